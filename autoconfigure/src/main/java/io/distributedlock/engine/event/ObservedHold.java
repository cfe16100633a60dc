package io.distributedlock.engine.event;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LossRegistration;
import io.distributedlock.ObserverScope;
import io.distributedlock.engine.concurrent.SerialQueue;

/**
 * The part of a hold that observers and listeners know it by. It is a superclass of the
 * hold, not a part of it, because there is one per held lock.
 */
public abstract class ObservedHold implements GrantHandle {

	/** Update fields without objects of their own, of which there is one per lock. */
	private static final VarHandle CALLBACKS = handle("callbacks");

	private static final VarHandle LOSS_ACTIONS = handle("lossActions");

	private final @Nullable HoldObservation observation;

	/** Runs the listeners of this handle; created when it is needed, as below. */
	private volatile @Nullable SerialQueue callbacks;

	/** Runs the actions for the loss, from the loss on. */
	private volatile @Nullable SerialQueue lossActions;

	public ObservedHold(LockEventPublisher events) {
		this.observation = events.newHoldObservation();
	}

	private static VarHandle handle(String field) {
		try {
			return MethodHandles.lookup().findVarHandle(ObservedHold.class, field, SerialQueue.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	public abstract LockEventPublisher events();

	@Override
	public final @Nullable HoldObservation observation() {
		return this.observation;
	}

	@Override
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

	private SerialQueue lossActions() {
		SerialQueue present = this.lossActions;
		if (present == null) {
			LOSS_ACTIONS.compareAndSet(this, null, events().newLossActionQueue());
			present = Objects.requireNonNull(this.lossActions);
		}
		return present;
	}

	@Override
	public final LossRegistration onLost(Runnable action) {
		return LossAction.add(action, lossActions());
	}

	@Override
	public final void runLossActions() {
		lossActions().open();
	}

}
