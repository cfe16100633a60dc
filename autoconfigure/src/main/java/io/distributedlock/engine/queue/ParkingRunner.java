package io.distributedlock.engine.queue;

import java.util.concurrent.locks.LockSupport;

import io.distributedlock.LockInterruptedException;
import io.distributedlock.LockProviderException;
import io.distributedlock.engine.concurrent.EngineEnvironment;

/**
 * Drives a request on the requesting thread, which parks between the steps.
 */
public final class ParkingRunner implements RequestRunner {

	private final EngineEnvironment environment;

	private final Thread thread = Thread.currentThread();

	private final WaitMode mode;

	private volatile boolean signalled;

	/** Whether the thread was interrupted while an interrupt did not end its wait. */
	private boolean interruptSeen;

	public ParkingRunner(EngineEnvironment environment, WaitMode mode) {
		this.environment = environment;
		this.mode = mode;
	}

	@Override
	public void signal() {
		if (this.signalled) {
			// The thread has not seen the last one yet.
			return;
		}
		this.signalled = true;
		if (Thread.currentThread() != this.thread) {
			LockSupport.unpark(this.thread);
		}
	}

	@Override
	public boolean mayBlock() {
		return true;
	}

	@Override
	public boolean waitsUnlimited() {
		return this.mode.isUnlimited();
	}

	@Override
	public String requester() {
		return this.thread.getName();
	}

	/**
	 * Drives a request to its end.
	 * @return whether the lock is held; if not, it was busy
	 * @throws LockInterruptedException if the thread was interrupted, and an interrupt
	 * ends its wait
	 * @throws LockProviderException if the store could not answer
	 */
	public boolean drive(RunningRequest request) {
		try {
			RunningRequest.Progress progress = step(request);
			while (progress == RunningRequest.Progress.WAIT) {
				await(request.waitUntilNanos());
				progress = step(request);
			}
			return progress == RunningRequest.Progress.ACQUIRED;
		}
		finally {
			restoreInterrupt();
		}
	}

	/** Makes one step, unless the thread was interrupted and that ends its wait. */
	public RunningRequest.Progress step(RunningRequest request) {
		if (this.thread.isInterrupted()) {
			if (this.mode.isInterruptible()) {
				request.abandon();
				throw new LockInterruptedException(request.key());
			}
			// Cleared for the next step, and set again after the last one.
			this.interruptSeen |= Thread.interrupted();
		}
		try {
			// Before the step, so that a signal during it is not lost.
			this.signalled = false;
			return request.step();
		}
		catch (LockProviderException ex) {
			throw (this.mode.isInterruptible() && this.thread.isInterrupted()) ? interrupted(request, ex) : ex;
		}
		catch (RuntimeException | Error ex) {
			request.abandon();
			throw ex;
		}
	}

	/** Interrupts the thread again, after the last step, if that was seen in between. */
	public void restoreInterrupt() {
		if (this.interruptSeen) {
			this.thread.interrupt();
		}
	}

	private static LockInterruptedException interrupted(RunningRequest request, LockProviderException ex) {
		LockInterruptedException interrupted = new LockInterruptedException(request.key());
		interrupted.addSuppressed(ex);
		return interrupted;
	}

	/** Parks until a signal, an interrupt, or an instant. */
	private void await(long untilNanos) {
		long left = untilNanos - this.environment.nanoTime();
		while (left > 0 && !this.signalled && !this.thread.isInterrupted()) {
			LockSupport.parkNanos(this, left);
			left = untilNanos - this.environment.nanoTime();
		}
	}

}
