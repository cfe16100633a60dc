package io.distributedlock.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import io.distributedlock.provider.CallKind;

/**
 * Stands before the pool, so that waiting for a connection counts against a call's
 * time-out. The limits are nested: acquires and releases together leave one connection to
 * renewals, and acquires leave one to releases in a pool of three or more. However many
 * are stuck, held locks can still be renewed. Not served in order of arrival: that would
 * cost a change of threads for each call.
 */
final class Permits {

	/** For each kind the limits that it counts against, the narrowest first. */
	private final Map<CallKind, List<Semaphore>> limits;

	Permits(int size) {
		Semaphore all = new Semaphore(size);
		Semaphore notRenewals = new Semaphore(Math.max(size - 1, 1));
		Semaphore acquires = new Semaphore(Math.max(size - 2, 1));
		this.limits = Map.of(CallKind.ACQUIRE, List.of(acquires, notRenewals, all), CallKind.RELEASE,
				List.of(notRenewals, all), CallKind.RENEWAL, List.of(all));
	}

	/**
	 * Takes a permit in time. An interrupt ends the wait if the call is interruptible.
	 */
	boolean take(CallKind kind, Duration timeout) throws InterruptedException {
		long deadline = System.nanoTime() + timeout.toNanos();
		List<Semaphore> own = limits(kind);
		int taken = 0;
		try {
			while (taken < own.size() && take(own.get(taken), kind, deadline)) {
				taken++;
			}
			return taken == own.size();
		}
		finally {
			if (taken < own.size()) {
				giveBack(own.subList(0, taken));
			}
		}
	}

	private static boolean take(Semaphore semaphore, CallKind kind, long deadline) throws InterruptedException {
		if (kind.interruptible()) {
			return semaphore.tryAcquire(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
		}
		boolean interrupted = false;
		try {
			while (true) {
				try {
					return semaphore.tryAcquire(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	void giveBack(CallKind kind) {
		giveBack(limits(kind));
	}

	private static void giveBack(List<Semaphore> taken) {
		for (int i = taken.size() - 1; i >= 0; i--) {
			taken.get(i).release();
		}
	}

	private List<Semaphore> limits(CallKind kind) {
		return Objects.requireNonNull(this.limits.get(kind));
	}

}
