package io.distributedlock.jdbc;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Stands before the pool, so that waiting for a connection counts against a call's
 * time-out. Acquires leave connections to releases, and both leave one to renewals:
 * however many are stuck, held locks can still be renewed.
 */
final class Permits {

	private final Semaphore all;

	private final Semaphore acquires;

	private final Semaphore releases;

	Permits(int size) {
		this.all = new Semaphore(size);
		this.acquires = new Semaphore((size > 2) ? size - 2 : 1);
		this.releases = new Semaphore((size > 1) ? size - 1 : 1);
	}

	/**
	 * Takes a permit in time. An interrupt ends the wait if the call is interruptible.
	 */
	boolean take(CallKind kind, Duration timeout) throws InterruptedException {
		long deadline = System.nanoTime() + timeout.toNanos();
		Semaphore own = own(kind);
		if (own != this.all && !take(own, kind, deadline)) {
			return false;
		}
		boolean taken = false;
		try {
			taken = take(this.all, kind, deadline);
		}
		finally {
			if (!taken && own != this.all) {
				own.release();
			}
		}
		return taken;
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
		this.all.release();
		Semaphore own = own(kind);
		if (own != this.all) {
			own.release();
		}
	}

	private Semaphore own(CallKind kind) {
		return switch (kind) {
			case ACQUIRE -> this.acquires;
			case RELEASE -> this.releases;
			case RENEWAL -> this.all;
		};
	}

}
