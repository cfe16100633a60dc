package io.distributedlock.support;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;

/**
 * The queue of releases and withdrawals that the store has not confirmed, repeated in the
 * background: for grants whose answer was lost, releases without an answer, and entries
 * of the wait queue without a waiter.
 * <p>
 * An attempt whose answer was never seen may still be under way when its release finds
 * nothing. So only {@link ReleaseOutcome#RELEASED} confirms its release, or
 * {@link ReleaseOutcome#NOT_HELD} if the answer was seen. Otherwise the release is
 * repeated with growing pauses until no command can take effect any more. Such a grant is
 * never renewed, so that it lasts one lease at most. A full queue drops its oldest entry.
 */
final class PendingReleaseQueue implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(PendingReleaseQueue.class);

	static final int CAPACITY = 10_000;

	private static final int MAX_RUNNING = 4;

	private static final long LONGEST_PAUSE_NANOS = Duration.ofSeconds(30).toNanos();

	/** The pause of the whole queue after a command without an answer. */
	private static final long STORE_PAUSE_NANOS = Duration.ofMillis(500).toNanos();

	/** How long a command may be under way, beyond two leases. */
	private static final Duration SLACK = Duration.ofSeconds(60);

	private final LockProvider provider;

	private final Duration callTimeout;

	private final LockTimer timer;

	private final Executor io;

	private final Consumer<LockKey> freed;

	private final ReentrantLock lock = new ReentrantLock();

	private final PriorityQueue<PendingRelease> due = new PriorityQueue<>(
			Comparator.comparingLong((entry) -> entry.dueNanos));

	private final Set<PendingRelease> byAge = new LinkedHashSet<>();

	private final Map<LockKey, PendingRelease> withdrawals = new HashMap<>();

	private final long origin = System.nanoTime();

	private int running;

	private long pausedUntilNanos;

	/** The time of the one pending signal, counted from the origin. */
	private long wakeUpNanos = Long.MAX_VALUE;

	private boolean overflowReported;

	private boolean closed;

	/**
	 * Creates an empty queue.
	 * @param freed receives the key of a released lock: the store notifies other
	 * processes, but not this one
	 */
	PendingReleaseQueue(LockProvider provider, Duration callTimeout, LockTimer timer, Executor io,
			Consumer<LockKey> freed) {
		this.freed = freed;
		this.provider = provider;
		this.callTimeout = callTimeout;
		this.timer = timer;
		this.io = io;
	}

	/**
	 * Releases a grant in the background.
	 * @param key the key
	 * @param owner the owner id, which is never used again
	 * @param lease the requested lease
	 * @param answerSeen whether the store's answer to the acquire was seen
	 */
	void release(LockKey key, OwnerId owner, Duration lease, boolean answerSeen) {
		Duration most = lease.multipliedBy(2).plus(SLACK);
		add(new PendingRelease((timeout) -> release(key, owner, timeout), answerSeen, sinceOrigin() + most.toNanos(),
				null));
	}

	private ReleaseOutcome release(LockKey key, OwnerId owner, Duration timeout) {
		ReleaseOutcome outcome = this.provider.release(key, owner, timeout);
		if (outcome == ReleaseOutcome.RELEASED) {
			this.freed.accept(key);
		}
		return outcome;
	}

	/**
	 * Withdraws a contender's entry from the wait queue in the background.
	 * @param key the key
	 * @param contender the contender
	 */
	void withdraw(LockKey key, LockContender contender) {
		add(new PendingRelease(contender::withdraw, true, sinceOrigin() + SLACK.toNanos(), key));
	}

	/** Cancels the withdrawal for a key that this process waits for again. */
	void cancelWithdrawal(LockKey key) {
		this.lock.lock();
		try {
			cancel(this.withdrawals.remove(key));
		}
		finally {
			this.lock.unlock();
		}
	}

	private void cancel(@Nullable PendingRelease entry) {
		if (entry != null) {
			entry.cancelled = true;
			this.byAge.remove(entry);
			this.due.remove(entry);
		}
	}

	int size() {
		this.lock.lock();
		try {
			return this.byAge.size();
		}
		finally {
			this.lock.unlock();
		}
	}

	private long sinceOrigin() {
		return System.nanoTime() - this.origin;
	}

	private void add(PendingRelease entry) {
		boolean overflow = false;
		this.lock.lock();
		try {
			if (this.closed) {
				return;
			}
			if (this.byAge.size() >= CAPACITY) {
				overflow = dropOldest();
			}
			this.byAge.add(entry);
			if (entry.withdrawnKey != null) {
				cancel(this.withdrawals.put(entry.withdrawnKey, entry));
			}
			entry.dueNanos = sinceOrigin();
			this.due.add(entry);
		}
		finally {
			this.lock.unlock();
		}
		if (overflow) {
			logger.warn("More than " + CAPACITY + " unclear locks of store '" + this.provider.name()
					+ "' wait to be released: the oldest are left to the end of their leases");
		}
		runOrSchedule();
	}

	/** Returns whether to report the drop: once until there is room again. */
	private boolean dropOldest() {
		Iterator<PendingRelease> ages = this.byAge.iterator();
		PendingRelease oldest = ages.next();
		ages.remove();
		forget(oldest);
		this.due.remove(oldest);
		boolean report = !this.overflowReported;
		this.overflowReported = true;
		return report;
	}

	private void forget(PendingRelease entry) {
		if (entry.withdrawnKey != null) {
			this.withdrawals.remove(entry.withdrawnKey, entry);
		}
	}

	/** Starts a run if an entry is due, else schedules one. */
	private void runOrSchedule() {
		long wait;
		long at;
		this.lock.lock();
		try {
			PendingRelease next = this.due.peek();
			if (next == null || this.closed || this.running >= MAX_RUNNING) {
				return;
			}
			at = Math.max(next.dueNanos, this.pausedUntilNanos);
			wait = at - sinceOrigin();
			if (wait <= 0) {
				this.running++;
			}
			else if (at >= this.wakeUpNanos) {
				return;
			}
			else {
				this.wakeUpNanos = at;
			}
		}
		finally {
			this.lock.unlock();
		}
		try {
			if (wait <= 0) {
				this.io.execute(this::run);
			}
			else {
				this.timer.schedule(() -> wakeUp(at), Duration.ofNanos(wait));
			}
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			logger.debug("A pending release could not be sent; its lock ends with the lease", ex);
			if (wait <= 0) {
				ended();
			}
		}
	}

	/** Does nothing if an earlier signal has replaced this one meanwhile. */
	private void wakeUp(long at) {
		this.lock.lock();
		try {
			if (this.wakeUpNanos != at) {
				return;
			}
			this.wakeUpNanos = Long.MAX_VALUE;
		}
		finally {
			this.lock.unlock();
		}
		runOrSchedule();
	}

	private void ended() {
		this.lock.lock();
		this.running--;
		this.lock.unlock();
	}

	private void run() {
		try {
			for (PendingRelease entry = pollDue(); entry != null; entry = pollDue()) {
				completeOrReschedule(entry, attempt(entry));
			}
		}
		finally {
			ended();
			runOrSchedule();
		}
	}

	private @Nullable PendingRelease pollDue() {
		this.lock.lock();
		try {
			long now = sinceOrigin();
			PendingRelease next = this.due.peek();
			return (next != null && !this.closed && next.dueNanos <= now && this.pausedUntilNanos <= now)
					? this.due.poll() : null;
		}
		finally {
			this.lock.unlock();
		}
	}

	private ReleaseOutcome attempt(PendingRelease entry) {
		try {
			return entry.command.send(this.callTimeout);
		}
		catch (RuntimeException | Error ex) {
			logger.debug("Store '" + this.provider.name() + "' failed in a background release", ex);
			return ReleaseOutcome.UNKNOWN;
		}
	}

	private void completeOrReschedule(PendingRelease entry, ReleaseOutcome outcome) {
		this.lock.lock();
		try {
			long now = sinceOrigin();
			boolean confirmed = outcome == ReleaseOutcome.RELEASED
					|| (outcome == ReleaseOutcome.NOT_HELD && entry.answerSeen);
			if (confirmed || entry.cancelled || now >= entry.giveUpNanos || !this.byAge.contains(entry)) {
				this.byAge.remove(entry);
				this.overflowReported &= this.byAge.size() > CAPACITY / 2;
				forget(entry);
				return;
			}
			if (outcome == ReleaseOutcome.UNKNOWN) {
				this.pausedUntilNanos = now + STORE_PAUSE_NANOS;
				entry.dueNanos = now + STORE_PAUSE_NANOS;
			}
			else {
				entry.dueNanos = now + entry.pauseNanos;
				entry.pauseNanos = Math.min(entry.pauseNanos * 2, LONGEST_PAUSE_NANOS);
			}
			this.due.add(entry);
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Stops the queue. Locks that are still pending last one lease at most. */
	@Override
	public void close() {
		this.lock.lock();
		try {
			this.closed = true;
			this.due.clear();
			this.byAge.clear();
			this.withdrawals.clear();
		}
		finally {
			this.lock.unlock();
		}
	}

}
