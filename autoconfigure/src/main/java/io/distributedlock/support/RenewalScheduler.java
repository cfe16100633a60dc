package io.distributedlock.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.LossReason;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockThreads;
import io.distributedlock.provider.RenewalOutcome;

/**
 * The scheduler that renews all held locks of one provider in batches, on one thread that
 * does nothing else.
 * <p>
 * No task is scheduled per lock: the thread checks all held locks, sends the renewals
 * that are due, and parks until the next one is. So no renewal can remain scheduled for a
 * lock that has ended.
 */
final class RenewalScheduler implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(RenewalScheduler.class);

	private static final int BATCH = 500;

	/**
	 * How many calls of one round may fail before batches are no longer split, so that a
	 * dead store does not receive a call for each lock.
	 */
	private static final int MAX_FAILURES = 32;

	private static final long SOONEST_RETRY_NANOS = Duration.ofMillis(5).toNanos();

	private static final long FAILED_ROUND_PAUSE_NANOS = Duration.ofMillis(100).toNanos();

	private final LockEngine engine;

	private final LockProvider provider;

	private final LockSettings settings;

	private final long origin = System.nanoTime();

	/** The next round of the thread, counted from the origin. */
	private volatile long nextRoundNanos = Long.MAX_VALUE;

	private final ReentrantLock startLock = new ReentrantLock();

	private volatile @Nullable Thread thread;

	private volatile boolean closed;

	private int failuresOfRound;

	private boolean failing;

	RenewalScheduler(LockEngine engine, LockProvider provider, LockSettings settings) {
		this.engine = engine;
		this.provider = provider;
		this.settings = settings;
	}

	/** Schedules the first renewal of a grant that is not among the held ones yet. */
	void schedule(HeldGrant heldGrant, long sentNanos) {
		heldGrant.scheduleRenewal(nextRenewal(heldGrant, sentNanos));
	}

	/** Registers a held grant before its holder sees it. */
	void register(HeldGrant heldGrant) {
		if (heldGrant.needsRenewal()) {
			Thread running = (this.thread != null) ? this.thread : start();
			if (heldGrant.renewalNanos() - this.origin < this.nextRoundNanos) {
				LockSupport.unpark(running);
			}
		}
	}

	private @Nullable Thread start() {
		this.startLock.lock();
		try {
			if (this.thread == null && !this.closed) {
				Thread started = LockThreads.factory(this.provider.name() + "-renewal").newThread(this::run);
				started.start();
				this.thread = started;
			}
			return this.thread;
		}
		finally {
			this.startLock.unlock();
		}
	}

	private void run() {
		while (!this.closed) {
			try {
				round();
			}
			catch (RuntimeException | Error ex) {
				logger.error("A round of lock renewals failed and is repeated", ex);
				LockSupport.parkNanos(this, FAILED_ROUND_PAUSE_NANOS);
			}
		}
	}

	private void round() {
		// Set before the check, so that a registration during it wakes the thread again.
		this.nextRoundNanos = Long.MAX_VALUE;
		long now = System.nanoTime();
		long next = Long.MAX_VALUE;
		List<HeldGrant> due = new ArrayList<>();
		for (SingleKeyLease lease : this.engine.held()) {
			HeldGrant heldGrant = lease.heldGrant();
			if (heldGrant.needsRenewal()) {
				next = Math.min(next, heldGrant.renewalNanos() - this.origin);
				long early = heldGrant.isRenewalUnclear() ? 0 : period(heldGrant) / 10;
				if (heldGrant.renewalNanos() - now <= early) {
					due.add(heldGrant);
				}
			}
		}
		// A grant that is nearly due is renewed too, but begins no round: otherwise the
		// duration of a round would make the next ones due, in ever smaller batches.
		if (next > now - this.origin) {
			this.nextRoundNanos = next;
			park(next);
		}
		else {
			renew(due);
		}
	}

	private void park(long next) {
		if (next == Long.MAX_VALUE) {
			LockSupport.park(this);
		}
		else {
			LockSupport.parkNanos(this, next - (System.nanoTime() - this.origin));
		}
	}

	private void renew(List<HeldGrant> due) {
		due.sort(Comparator.comparingLong((heldGrant) -> heldGrant.deadlineNanos() - this.origin));
		this.failuresOfRound = 0;
		Map<Integer, List<HeldGrant>> byTimeout = new TreeMap<>();
		due.forEach(
				(heldGrant) -> byTimeout.computeIfAbsent(magnitude(timeout(heldGrant)), (absent) -> new ArrayList<>())
					.add(heldGrant));
		byTimeout.values().forEach(this::sendAll);
	}

	/**
	 * Groups leases of similar length, because the shortest lease of a batch sets its
	 * time-out.
	 */
	private static int magnitude(Duration timeout) {
		return Long.SIZE - Long.numberOfLeadingZeros(timeout.toNanos());
	}

	private void sendAll(List<HeldGrant> due) {
		for (int from = 0; from < due.size() && !this.closed; from += BATCH) {
			send(due.subList(from, Math.min(from + BATCH, due.size())));
		}
	}

	/**
	 * Sends a batch. A batch that fails is split, so that one lock does not fail the
	 * others.
	 */
	private void send(List<HeldGrant> batch) {
		Map<LockGrant, Duration> leases = new HashMap<>(batch.size() * 2);
		List<HeldGrant> claimed = new ArrayList<>(batch.size());
		for (HeldGrant heldGrant : batch) {
			if (heldGrant.beginRenewal()) {
				claimed.add(heldGrant);
				leases.put(heldGrant.grant(), heldGrant.lease());
			}
		}
		if (claimed.isEmpty()) {
			return;
		}
		long sentNanos = System.nanoTime();
		Map<LockGrant, RenewalOutcome> outcomes = Map.of();
		boolean split = false;
		try {
			outcomes = this.provider.renew(leases, timeout(claimed));
			this.failing = false;
		}
		catch (RuntimeException | Error ex) {
			warn(claimed.size(), ex);
			split = claimed.size() > 1 && !isTimeout(ex) && ++this.failuresOfRound < MAX_FAILURES;
		}
		if (split) {
			claimed.forEach(HeldGrant::endRenewal);
			send(claimed.subList(0, claimed.size() / 2));
			send(claimed.subList(claimed.size() / 2, claimed.size()));
			return;
		}
		long now = System.nanoTime();
		for (HeldGrant heldGrant : claimed) {
			answered(heldGrant, outcomes.getOrDefault(heldGrant.grant(), RenewalOutcome.UNKNOWN), sentNanos, now);
		}
	}

	/** Warns once until the store answers again. */
	private void warn(int locks, Throwable ex) {
		if (!this.failing) {
			this.failing = true;
			logger.warn("Store '" + this.provider.name() + "' failed to renew " + locks
					+ " lock(s); the renewal is repeated within the lease", ex);
		}
	}

	private static boolean isTimeout(Throwable ex) {
		return ex instanceof LockProviderException failure && failure.error() == LockError.STORE_TIMEOUT;
	}

	private void answered(HeldGrant heldGrant, RenewalOutcome outcome, long sentNanos, long nowNanos) {
		this.engine.events().renewed(heldGrant.grant().key(), outcome);
		switch (outcome) {
			case RENEWED -> {
				if (heldGrant.renewed(sentNanos, nowNanos)) {
					heldGrant.scheduleRenewal(nextRenewal(heldGrant, sentNanos));
				}
				else {
					this.engine.renewedTooLate(heldGrant);
				}
			}
			case NOT_HELD -> {
				heldGrant.endRenewal();
				this.engine.lose(heldGrant.holder(), LossReason.NOT_HELD);
			}
			case UNKNOWN -> {
				heldGrant.endRenewal();
				long remaining = Math.max(0, heldGrant.deadlineNanos() - nowNanos);
				heldGrant.scheduleRenewal(
						nowNanos + Math.max(SOONEST_RETRY_NANOS, Math.min(period(heldGrant) / 2, remaining / 5)));
			}
		}
	}

	private Duration timeout(List<HeldGrant> batch) {
		return batch.stream().map(this::timeout).min(Duration::compareTo).orElse(this.settings.callTimeout());
	}

	private Duration timeout(HeldGrant heldGrant) {
		Duration most = heldGrant.lease().dividedBy(6);
		return (most.compareTo(this.settings.callTimeout()) < 0) ? most : this.settings.callTimeout();
	}

	private long period(HeldGrant heldGrant) {
		return (long) (heldGrant.lease().toNanos() * this.settings.renewalFraction());
	}

	/** Adds jitter, so that the processes of a cluster do not renew at the same time. */
	private long nextRenewal(HeldGrant heldGrant, long sentNanos) {
		long period = period(heldGrant);
		return sentNanos + period - (long) (period * 0.1 * ThreadLocalRandom.current().nextDouble());
	}

	@Override
	public void close() {
		this.closed = true;
		LockSupport.unpark(this.thread);
	}

}
