package io.distributedlock.engine;

import java.util.List;

import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.grant.JoinableLease;

/**
 * What one thread holds by a {@link ThreadBoundLock}. Accessed by that thread only.
 */
final class ThreadHold {

	private final LockRunner execution;

	private final JoinableLease lease;

	private final LockContext.Scope scope;

	private int count = 1;

	/**
	 * Begins a hold with its scope.
	 * @param execution what has acquired the lock, and closes it
	 */
	ThreadHold(LockRunner execution, JoinableLease lease) {
		this.execution = execution;
		this.lease = lease;
		this.scope = LockContext.openUnordered(lease);
	}

	/**
	 * Locks once more what is held.
	 * @param request the request of the view, perhaps another one of the same keys
	 */
	void reenter(LockRequest request) {
		this.lease.throwLoss(LockError.REENTRY_AFTER_LOSS);
		this.lease.ensureHeld();
		this.execution.joinMinHold(this.lease, request);
		this.count = Math.incrementExact(this.count);
	}

	/** Whether a call runs inside whose body would run on without the lock. */
	boolean isNeeded() {
		return this.count == 1 && LockContext.findAll()
			.stream()
			.anyMatch((inner) -> inner instanceof JoinableLease joined && joined.dependsOn(this.lease));
	}

	/** Takes back one lock, and returns whether it was the last. */
	boolean unlockOnce() {
		return --this.count == 0;
	}

	void end() {
		try {
			this.scope.close();
		}
		finally {
			this.execution.closeKept(this.lease);
		}
	}

	void throwLoss() {
		this.lease.throwLoss(LockError.LOST);
	}

	/**
	 * The identity of a hold.
	 *
	 * @param thread the thread that holds
	 * @param keys the keys of its lock, sorted
	 */
	record Id(Thread thread, List<LockKey> keys) {
	}

}
