package io.distributedlock.interceptor;

import java.util.concurrent.atomic.AtomicReference;

/**
 * Interruption of the thread that runs a body, once, when its lock is lost. The flag of
 * the thread is clear again afterwards, unless another interruption had set it before.
 * Invariant: the thread is interrupted only until {@link #end}, which waits for an
 * interruption under way.
 */
final class BodyInterruption {

	private final Thread thread = Thread.currentThread();

	private final AtomicReference<State> state = new AtomicReference<>(State.RUNNING);

	/** Whether the flag was set before; written before the state is INTERRUPTED. */
	private boolean interruptedBefore;

	/** Interrupts the thread unless the body has ended. */
	void interrupt() {
		if (this.state.compareAndSet(State.RUNNING, State.INTERRUPTING)) {
			this.interruptedBefore = this.thread.isInterrupted();
			this.thread.interrupt();
			this.state.set(State.INTERRUPTED);
		}
	}

	/**
	 * Ends the time in which the thread may be interrupted. Called by that thread, once.
	 * @return whether it was interrupted
	 */
	boolean end() {
		if (this.state.compareAndSet(State.RUNNING, State.ENDED)) {
			return false;
		}
		while (this.state.get() == State.INTERRUPTING) {
			Thread.onSpinWait();
		}
		if (!this.interruptedBefore) {
			// The method clears the flag.
			Thread.interrupted();
		}
		return true;
	}

	private enum State {

		RUNNING, INTERRUPTING, INTERRUPTED, ENDED

	}

}
