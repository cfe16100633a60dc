package io.distributedlock.support;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockInterruptedException;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockRequest;

/**
 * A request as a {@link Lock}. What a thread has locked stands in its {@link ViewHold}s.
 */
final class LockView implements Lock {

	/**
	 * How long a request of a wait without an end waits at least, before the next one. A
	 * store that fails is reported at the end of it; a longer time keeps the order of
	 * arrival for longer.
	 */
	private static final Duration ROUND = Duration.ofMinutes(1);

	private static final Duration LONGEST = Duration.ofDays(365);

	/** Whose lock it is: views of one template for the same keys are the same lock. */
	private final Object template;

	private final Supplier<LockedExecution> execution;

	private final LockRequest request;

	LockView(Object template, Supplier<LockedExecution> execution, LockRequest request) {
		this.template = template;
		this.execution = execution;
		this.request = request;
	}

	@Override
	public void lock() {
		LockRequest round = round();
		while (!isLockedUninterruptibly(round)) {
			Thread.onSpinWait();
		}
	}

	@Override
	public void lockInterruptibly() throws InterruptedException {
		LockRequest round = round();
		while (!isLocked(round)) {
			Thread.onSpinWait();
		}
	}

	@Override
	public boolean tryLock() {
		return isLockedUninterruptibly(this.request.withWaitTime(Duration.ZERO));
	}

	@Override
	public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
		Duration waitTime = (time <= 0) ? Duration.ZERO : Duration.ofNanos(unit.toNanos(time));
		return isLocked(this.request.withWaitTime((waitTime.compareTo(LONGEST) < 0) ? waitTime : LONGEST));
	}

	/** Returns the request of one round of a wait without an end. */
	private LockRequest round() {
		Duration waitTime = this.request.waitTime();
		return this.request.withWaitTime((waitTime != null && waitTime.compareTo(ROUND) > 0) ? waitTime : ROUND);
	}

	/**
	 * Locks, and sets the thread's flag again if it was interrupted before or meanwhile.
	 */
	private boolean isLockedUninterruptibly(LockRequest attempt) {
		boolean interrupted = Thread.interrupted();
		try {
			while (true) {
				try {
					return isLockedBy(attempt);
				}
				catch (LockInterruptedException ex) {
					interrupted = true;
					// The method clears the flag.
					Thread.interrupted();
				}
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private boolean isLocked(LockRequest attempt) throws InterruptedException {
		try {
			if (!Thread.currentThread().isInterrupted()) {
				return isLockedBy(attempt);
			}
		}
		catch (LockInterruptedException ex) {
			throw interrupted(ex);
		}
		throw interrupted(null);
	}

	private InterruptedException interrupted(@Nullable LockInterruptedException cause) {
		// The method clears the flag, as the exception stands for it.
		Thread.interrupted();
		InterruptedException interrupted = new InterruptedException("Interrupted before " + this + " was acquired");
		if (cause != null) {
			interrupted.initCause(cause);
		}
		return interrupted;
	}

	private boolean isLockedBy(LockRequest attempt) {
		JoinableLease lease;
		try {
			lease = this.execution.get().acquireOrKeep(attempt);
		}
		catch (LockNotAcquiredException ex) {
			return false;
		}
		ViewHold.begin(this.template, this.request.keys(), lease);
		return true;
	}

	@Override
	public void unlock() {
		ViewHold hold = ViewHold.find(this.template, this.request.keys());
		if (hold == null) {
			throw new IllegalMonitorStateException(this + " is not held by the thread '"
					+ Thread.currentThread().getName() + "'. Unlock it on the thread that has locked it");
		}
		hold.end();
		hold.lease().close();
		hold.lease().throwLoss(LockError.LOST);
	}

	@Override
	public Condition newCondition() {
		throw new UnsupportedOperationException(
				"A distributed lock has no conditions. Poll for the state, or let the store notify of it");
	}

	@Override
	public String toString() {
		return "Lock " + this.request.keys();
	}

}
