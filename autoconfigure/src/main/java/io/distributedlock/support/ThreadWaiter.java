package io.distributedlock.support;

import java.util.concurrent.locks.LockSupport;

/**
 * A waiter that parks the requesting thread.
 */
final class ThreadWaiter extends Waiter {

	private final Thread thread = Thread.currentThread();

	@Override
	void wake() {
		LockSupport.unpark(this.thread);
	}

	/**
	 * Parks until a signal, an interrupt, or the given instant.
	 * @param untilNanos the end of the wait by {@link System#nanoTime()}
	 */
	void await(long untilNanos) {
		long leftNanos = untilNanos - System.nanoTime();
		while (leftNanos > 0 && !isSignalled() && !this.thread.isInterrupted()) {
			LockSupport.parkNanos(this, leftNanos);
			leftNanos = untilNanos - System.nanoTime();
		}
	}

}
