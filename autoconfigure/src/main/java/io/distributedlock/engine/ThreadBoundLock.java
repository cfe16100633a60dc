package io.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;

import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockInterruptedException;
import io.distributedlock.LockKey;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.grant.EngineLease;
import io.distributedlock.engine.queue.WaitMode;

/**
 * A view of a lock as a {@link Lock}: the thread that locks it holds it until it has
 * unlocked it as often. It keeps nothing itself. Safe for use by many threads.
 */
final class ThreadBoundLock implements Lock {

	private static final Duration LONGEST_WAIT = Duration.ofDays(365);

	private final LockRequest request;

	private final Supplier<LockRunner> execution;

	private final Map<HoldId, ThreadHold> holds;

	/**
	 * Creates a view.
	 * @param execution what acquires: that of the present engine
	 * @param holds what threads hold by views of the same engine, without an entry where
	 * nothing is held
	 */
	ThreadBoundLock(LockRequest request, Supplier<LockRunner> execution, Map<HoldId, ThreadHold> holds) {
		this.request = request;
		this.execution = execution;
		this.holds = holds;
	}

	private HoldId id() {
		return new HoldId(Thread.currentThread(), this.request.keys(), this.request.permits());
	}

	@Override
	public void lock() {
		lock(this.request, WaitMode.UNLIMITED_UNINTERRUPTED);
	}

	@Override
	public void lockInterruptibly() throws InterruptedException {
		lockInterruptibly(this.request, WaitMode.UNLIMITED);
	}

	@Override
	public boolean tryLock() {
		try {
			lock(this.request.withWaitTime(Duration.ZERO), WaitMode.LIMITED_UNINTERRUPTED);
			return true;
		}
		catch (LockNotAcquiredException ex) {
			return false;
		}
	}

	@Override
	public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
		Duration wait = Duration.ofNanos(Math.min(Math.max(0, unit.toNanos(time)), LONGEST_WAIT.toNanos()));
		try {
			lockInterruptibly(this.request.withWaitTime(wait), WaitMode.LIMITED);
			return true;
		}
		catch (LockNotAcquiredException ex) {
			return false;
		}
	}

	private void lockInterruptibly(LockRequest terms, WaitMode mode) throws InterruptedException {
		if (Thread.interrupted()) {
			throw new InterruptedException("Interrupted before lock " + this.request.keys() + " was requested");
		}
		try {
			lock(terms, mode);
		}
		catch (LockInterruptedException ex) {
			// The checked exception takes the place of the flag.
			Thread.interrupted();
			InterruptedException interrupted = new InterruptedException(ex.getMessage());
			interrupted.initCause(ex);
			throw interrupted;
		}
	}

	private void lock(LockRequest terms, WaitMode mode) {
		HoldId id = id();
		ThreadHold held = this.holds.get(id);
		if (held != null) {
			held.reenter(terms);
			return;
		}
		LockRunner present = this.execution.get();
		EngineLease lease = present.acquireKept(terms, mode);
		try {
			this.holds.put(id, new ThreadHold(present, lease));
		}
		catch (RuntimeException | Error ex) {
			lease.close();
			throw ex;
		}
	}

	@Override
	public void unlock() {
		HoldId id = id();
		ThreadHold held = this.holds.get(id);
		if (held == null) {
			throw new IllegalMonitorStateException(
					"Lock " + this.request.keys() + " is not locked by thread '" + id.thread().getName()
							+ "'. Unlock it as often as it was locked, on the thread that has locked it");
		}
		if (held.isNeeded()) {
			throw new IllegalMonitorStateException("Lock " + this.request.keys()
					+ " is needed by a call that runs inside it. Unlock it when that call has returned");
		}
		held.count--;
		if (held.count == 0) {
			this.holds.remove(id);
			held.end();
		}
		held.lease.throwLoss(LockError.LOST);
	}

	/**
	 * Refuses.
	 * @throws UnsupportedOperationException always
	 */
	@Override
	public Condition newCondition() {
		throw new UnsupportedOperationException("Lock " + this.request.keys()
				+ " has no conditions: no store notifies a thread of another process. Release the lock and try again");
	}

	@Override
	public String toString() {
		return "Lock " + this.request.keys() + (this.holds.containsKey(id()) ? ", locked by this thread" : "");
	}

	/** What one thread holds. Accessed by that thread only. */
	static final class ThreadHold {

		private final LockRunner execution;

		private final EngineLease lease;

		private final LockContext.Scope scope;

		private int count = 1;

		private ThreadHold(LockRunner execution, EngineLease lease) {
			this.execution = execution;
			this.lease = lease;
			this.scope = LockContext.openUnordered(lease);
		}

		/**
		 * Locks once more what is held.
		 * @param request the request of the view, perhaps another one of the same keys
		 */
		private void reenter(LockRequest request) {
			this.lease.ensureHeld(LockError.REENTRY_AFTER_LOSS);
			this.execution.joinMinHold(this.lease, request);
			this.count = Math.incrementExact(this.count);
		}

		/** Whether a call runs inside whose body would run on without the lock. */
		private boolean isNeeded() {
			return this.count == 1 && LockContext.findAll()
				.stream()
				.anyMatch((inner) -> inner instanceof EngineLease joined && joined.dependsOn(this.lease));
		}

		private void end() {
			try {
				this.scope.close();
			}
			finally {
				this.execution.closeKept(this.lease);
			}
		}

	}

	/**
	 * The identity of a hold.
	 *
	 * @param thread the thread that holds
	 * @param keys the keys of its lock, sorted
	 * @param permits the permits of its lock, 0 for an exclusive one: a nested view of
	 * others joins the hold
	 */
	record HoldId(Thread thread, List<LockKey> keys, int permits) {
	}

}
