package io.distributedlock.support;

import org.jspecify.annotations.Nullable;

/**
 * One request's place in the local queue of a {@link KeyQueue}. Holds no thread: whoever
 * waits says in {@link #wake()} how it is woken.
 */
abstract class Waiter {

	/** Links of the queue's queue, guarded by the queue's lock. */
	@Nullable Waiter previous;

	@Nullable Waiter next;

	boolean queued;

	/**
	 * Waits only to learn whether the store answers at all; guarded by the queue's lock.
	 */
	boolean overdue;

	private volatile boolean signalled;

	/** Tells the waiter to look again. May be called by any thread, at any time. */
	final void signal() {
		this.signalled = true;
		wake();
	}

	final boolean isSignalled() {
		return this.signalled;
	}

	/** Called before looking, so that a signal during the look is not lost. */
	final void clearSignal() {
		this.signalled = false;
	}

	abstract void wake();

}
