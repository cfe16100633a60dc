package io.distributedlock.jdbc.connection;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.LockError;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;

/**
 * Permits to use a connection of the pool, so that the wait for a connection counts
 * against a call's time-out. The limits are nested: acquires and releases together leave
 * one connection to renewals, and acquires leave one to releases in a pool of three or
 * more. However many calls hang, held locks can still be renewed. The semaphores are not
 * fair, because fairness would cost a context switch for each call.
 */
final class ConnectionPermits {

	private static final Log logger = LogFactory.getLog(ConnectionPermits.class);

	/** The limits that a call of each kind counts against, the narrowest first. */
	private final Map<CallKind, List<Semaphore>> limits;

	/**
	 * Creates the permits of a pool, and warns of one that has nothing for renewals.
	 * @param sizedBy what the number of connections depends on
	 */
	static ConnectionPermits of(int size, String sizedBy) {
		if (size == 1) {
			logger.warn(LockError.CONFLICTING_SETTINGS.describe(
					"Locks use one connection of the database at a time, so that a renewal waits for every attempt, and for"
							+ " one that hangs as long as the call time-out",
					"Give them at least 2, which keeps a connection for renewals; 3 keep one for releases, too. Their number"
							+ " is " + sizedBy));
		}
		return new ConnectionPermits(size);
	}

	ConnectionPermits(int size) {
		Semaphore all = new Semaphore(size);
		Semaphore notRenewals = new Semaphore(Math.max(size - 1, 1));
		Semaphore acquires = new Semaphore(Math.max(size - 2, 1));
		this.limits = Map.of(CallKind.ACQUIRE, List.of(acquires, notRenewals, all), CallKind.RELEASE,
				List.of(notRenewals, all), CallKind.RENEWAL, List.of(all));
	}

	/**
	 * Acquires a permit until the deadline.
	 * @return whether the permit was acquired
	 * @throws InterruptedException if a call of this kind is interruptible and the thread
	 * was interrupted
	 */
	boolean tryAcquire(CallKind kind, Deadline deadline) throws InterruptedException {
		List<Semaphore> own = limits(kind);
		int acquired = 0;
		try {
			while (acquired < own.size() && tryAcquire(own.get(acquired), kind, deadline)) {
				acquired++;
			}
			return acquired == own.size();
		}
		finally {
			if (acquired < own.size()) {
				release(own.subList(0, acquired));
			}
		}
	}

	private static boolean tryAcquire(Semaphore semaphore, CallKind kind, Deadline deadline)
			throws InterruptedException {
		return deadline.await(kind, (nanos) -> semaphore.tryAcquire(nanos, TimeUnit.NANOSECONDS));
	}

	void release(CallKind kind) {
		release(limits(kind));
	}

	private static void release(List<Semaphore> acquired) {
		for (int i = acquired.size() - 1; i >= 0; i--) {
			acquired.get(i).release();
		}
	}

	private List<Semaphore> limits(CallKind kind) {
		return Objects.requireNonNull(this.limits.get(kind));
	}

}
