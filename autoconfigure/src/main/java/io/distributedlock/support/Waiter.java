package io.distributedlock.support;

import org.jspecify.annotations.Nullable;

/**
 * One request in a {@link KeyQueue}. It is not bound to a thread: a subclass decides in
 * {@link #wake()} how the request is woken.
 */
abstract class Waiter {

	/** The links of the {@link WaiterQueue}, guarded by the lock of the key's queue. */
	@Nullable Waiter previous;

	@Nullable Waiter next;

	boolean queued;

	/**
	 * Whether the wait time is over and the request waits only for an answer of the
	 * store; guarded by the lock of the key's queue.
	 */
	boolean overdue;

	private volatile boolean signalled;

	/** Signals the waiter to take its next step. Any thread may call it at any time. */
	final void signal() {
		this.signalled = true;
		wake();
	}

	final boolean isSignalled() {
		return this.signalled;
	}

	/** Called before a step, so that a signal during the step is not lost. */
	final void clearSignal() {
		this.signalled = false;
	}

	abstract void wake();

}
