package io.distributedlock.engine.event;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockSnapshot;
import io.distributedlock.engine.concurrent.SerialQueue;

/**
 * The present hold of a grant, as its grant, observers and listeners know it.
 */
public interface GrantHandle {

	LockKey key();

	FencingToken fencingToken();

	/** Whether the hold has not ended, by its local deadline. */
	boolean isHeld();

	/** Returns the handle of whoever has acquired the hold. */
	LockLease lease();

	/** Returns the queue that runs the listeners of this hold in order. */
	SerialQueue callbacks();

	/** Returns the observers of the hold, or {@code null} if nothing is observed. */
	@Nullable HoldObservation observation();

	/** Runs the actions for the loss in order; those that are added later follow them. */
	void runLossActions();

	/** Returns what an observer may know. */
	LockSnapshot.Held view(long nowNanos);

}
