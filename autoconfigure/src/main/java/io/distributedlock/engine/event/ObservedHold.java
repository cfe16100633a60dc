package io.distributedlock.engine.event;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

import org.jspecify.annotations.Nullable;

import io.distributedlock.ObserverScope;
import io.distributedlock.engine.concurrent.SerialQueue;

/**
 * The part of a hold that observers and listeners know it by. It is a superclass of the
 * hold, not a part of it, because there is one per held lock.
 */
public abstract class ObservedHold implements GrantHandle {

	/** Updates a field without an object of its own, of which there is one per lock. */
	private static final AtomicReferenceFieldUpdater<ObservedHold, SerialQueue> CALLBACKS = AtomicReferenceFieldUpdater
		.newUpdater(ObservedHold.class, SerialQueue.class, "callbacks");

	private final @Nullable HoldObservation observation;

	private volatile @Nullable SerialQueue callbacks;

	public ObservedHold(LockEventPublisher events) {
		this.observation = events.newHoldObservation();
	}

	public abstract LockEventPublisher events();

	@Override
	public final @Nullable HoldObservation observation() {
		return this.observation;
	}

	public final @Nullable ObserverScope openObserverScope() {
		return (this.observation != null) ? this.observation.openScope() : null;
	}

	@Override
	public final SerialQueue callbacks() {
		SerialQueue present = this.callbacks;
		if (present == null) {
			CALLBACKS.compareAndSet(this, null, events().newQueue());
			present = Objects.requireNonNull(this.callbacks);
		}
		return present;
	}

}
