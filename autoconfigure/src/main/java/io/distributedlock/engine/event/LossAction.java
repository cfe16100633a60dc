package io.distributedlock.engine.event;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import io.distributedlock.LossRegistration;

/**
 * One action that runs at the loss of a lock, at most once, and never after it was
 * removed.
 */
public final class LossAction implements Runnable, LossRegistration {

	private final Runnable action;

	private final Consumer<LossAction> onRemoved;

	/** Whether the action has begun, or was removed before. */
	private final AtomicBoolean done = new AtomicBoolean();

	/**
	 * Creates an action.
	 * @param onRemoved removes the action from those that will run
	 */
	public LossAction(Runnable action, Consumer<LossAction> onRemoved) {
		this.action = action;
		this.onRemoved = onRemoved;
	}

	@Override
	public void run() {
		if (this.done.compareAndSet(false, true)) {
			this.action.run();
		}
	}

	@Override
	public void close() {
		if (this.done.compareAndSet(false, true)) {
			this.onRemoved.accept(this);
		}
	}

}
