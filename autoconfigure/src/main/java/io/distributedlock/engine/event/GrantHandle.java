package io.distributedlock.engine.event;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockSnapshot;
import io.distributedlock.LossRegistration;
import io.distributedlock.ObserverScope;
import io.distributedlock.engine.concurrent.EngineEnvironment;
import io.distributedlock.engine.concurrent.EngineEnvironment.Work;
import io.distributedlock.engine.concurrent.SerialQueue;

/**
 * The present hold of a grant, as its grant, observers and listeners know it. It is a
 * superclass of the hold, not a part of it, because there is one per held lock.
 */
public abstract class GrantHandle {

	/** Update fields without objects of their own, of which there is one per lock. */
	private static final VarHandle CALLBACKS = handle("callbacks");

	private static final VarHandle LOSS_ACTIONS = handle("lossActions");

	private final @Nullable HoldObservation observation;

	/** Runs the listeners of this hold; created when it is needed, as below. */
	private volatile @Nullable SerialQueue callbacks;

	/** Runs the actions for the loss, from the loss on. */
	private volatile @Nullable SerialQueue lossActions;

	public GrantHandle(@Nullable HoldObservation observation) {
		this.observation = observation;
	}

	private static VarHandle handle(String field) {
		try {
			return MethodHandles.lookup().findVarHandle(GrantHandle.class, field, SerialQueue.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	public abstract LockKey key();

	public abstract FencingToken fencingToken();

	/** Whether the hold has not ended, by its local deadline. */
	public abstract boolean isHeld();

	/** Returns the handle of whoever has acquired the hold. */
	public abstract LockLease lease();

	protected abstract EngineEnvironment environment();

	/** Returns what an observer may know. */
	public abstract LockSnapshot.Held view(long nowNanos);

	/** Returns the observers of the hold, or {@code null} if nothing is observed. */
	final @Nullable HoldObservation observation() {
		return this.observation;
	}

	public final @Nullable ObserverScope openObserverScope() {
		return (this.observation != null) ? this.observation.openScope() : null;
	}

	/** Returns the queue that runs the listeners of this hold in order. */
	final SerialQueue callbacks() {
		SerialQueue present = this.callbacks;
		if (present == null) {
			CALLBACKS.compareAndSet(this, null, new SerialQueue(environment(), Work.CALLBACKS));
			present = Objects.requireNonNull(this.callbacks);
		}
		return present;
	}

	private SerialQueue lossActions() {
		SerialQueue present = this.lossActions;
		if (present == null) {
			LOSS_ACTIONS.compareAndSet(this, null, SerialQueue.closed(environment(), Work.LOSS_ACTIONS));
			present = Objects.requireNonNull(this.lossActions);
		}
		return present;
	}

	/** Adds an action that runs once at most, and never after it was removed. */
	public final LossRegistration onLost(Runnable action) {
		SerialQueue queue = lossActions();
		AtomicBoolean done = new AtomicBoolean();
		Runnable once = () -> {
			if (done.compareAndSet(false, true)) {
				action.run();
			}
		};
		queue.execute(once);
		return () -> {
			if (done.compareAndSet(false, true)) {
				queue.remove(once);
			}
		};
	}

	/** Runs the actions for the loss in order; those that are added later follow them. */
	final void runLossActions() {
		lossActions().open();
	}

}
