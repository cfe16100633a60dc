package io.distributedlock.support;

import java.util.concurrent.locks.LockSupport;

/**
 * A waiter that parks the thread which asked.
 */
final class ThreadWaiter extends Waiter {

	private final Thread thread = Thread.currentThread();

	@Override
	void wake() {
		LockSupport.unpark(this.thread);
	}

	/**
	 * Parks until signalled, interrupted, or the given instant.
	 * @param instant the latest return
	 */
	void await(long instant) {
		long left = instant - System.nanoTime();
		while (left > 0 && !isSignalled() && !this.thread.isInterrupted()) {
			LockSupport.parkNanos(this, left);
			left = instant - System.nanoTime();
		}
	}

}
