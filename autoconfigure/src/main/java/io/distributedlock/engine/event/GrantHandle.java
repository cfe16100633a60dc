package io.distributedlock.engine.event;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockSnapshot;
import io.distributedlock.ObserverScope;
import io.distributedlock.engine.concurrent.SerialQueue;

/**
 * The present holder of a grant, as its grant knows it.
 */
public interface GrantHandle extends LockLease, ObserverScope.Source {

	LockKey key();

	/** Returns the queue that runs the listeners of this handle in order. */
	SerialQueue callbacks();

	/** Returns the observers of the hold, or {@code null} if nothing is observed. */
	@Nullable HoldObservation observation();

	/** Runs the actions for the loss in order; those that are added later follow them. */
	void runLossActions();

	/** Returns what an observer may know. */
	LockSnapshot.Held view(long nowNanos);

}
