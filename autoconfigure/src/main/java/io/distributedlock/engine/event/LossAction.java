package io.distributedlock.engine.event;

import java.util.concurrent.atomic.AtomicBoolean;

import io.distributedlock.LossRegistration;
import io.distributedlock.engine.concurrent.SerialQueue;

/**
 * One action that runs at the loss of a lock, at most once, and never after it was
 * removed.
 */
final class LossAction implements Runnable, LossRegistration {

	private final Runnable action;

	private final SerialQueue queue;

	/** Whether the action has begun, or was removed before. */
	private final AtomicBoolean done = new AtomicBoolean();

	private LossAction(Runnable action, SerialQueue queue) {
		this.action = action;
		this.queue = queue;
	}

	/**
	 * Adds an action to those of a lock.
	 * @param queue the queue that runs them, open from the loss on
	 */
	static LossRegistration add(Runnable action, SerialQueue queue) {
		LossAction added = new LossAction(action, queue);
		queue.execute(added);
		return added;
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
			this.queue.remove(this);
		}
	}

}
