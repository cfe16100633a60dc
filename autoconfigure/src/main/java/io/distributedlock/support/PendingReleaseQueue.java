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
 * The releases and withdrawals that the store has not confirmed, repeated in the
 * background: grants whose answer was lost, releases without an answer, queue entries
 * without a waiter.
 * <p>
 * A grant whose answer was never seen may still be under way when its release finds
 * nothing. So only {@link ReleaseOutcome#RELEASED} confirms it, or
 * {@link ReleaseOutcome#NOT_HELD} once the answer was seen; else the release is repeated
 * with growing pauses until no command can have left anything behind. No entry is ever
 * renewed: what is missed lasts one lease at most. When full, the oldest entry is
 * dropped.
 */
final class PendingReleaseQueue implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(PendingReleaseQueue.class);

	static final int CAPACITY = 10_000;

	private static final int MOST_AT_ONCE = 4;

	private static final long LONGEST_PAUSE = Duration.ofSeconds(30).toNanos();

	/** The store does not answer: everything waits this long. */
	private static final long STORE_PAUSE = Duration.ofMillis(500).toNanos();

	/** How long a command may be on its way, beyond two leases. */
	private static final Duration SLACK = Duration.ofSeconds(60);

	private final LockProvider provider;

	private final Duration callTimeout;

	private final LockTimer timer;

	private final Executor io;

	private final Consumer<LockKey> freed;

	private final ReentrantLock lock = new ReentrantLock();

	private final PriorityQueue<PendingRelease> due = new PriorityQueue<>(
			Comparator.comparingLong((entry) -> entry.orderedBy));

	private final Set<PendingRelease> byAge = new LinkedHashSet<>();

	private final Map<LockKey, PendingRelease> withdrawals = new HashMap<>();

	private final long origin = System.nanoTime();

	private int running;

	private long pausedUntil;

	/** When the timer is going to look, so that there is one pending signal, not many. */
	private long wakeUpAt = Long.MAX_VALUE;

	private boolean overflowTold;

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
	 * @param lease the lease that was asked for
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
	 * Withdraws a contender's queue entry in the background.
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
			if (entry.place != null) {
				cancel(this.withdrawals.put(entry.place, entry));
			}
			entry.orderedBy = sinceOrigin();
			this.due.add(entry);
		}
		finally {
			this.lock.unlock();
		}
		if (overflow) {
			logger.warn("More than " + CAPACITY + " unclear locks of store '" + this.provider.name()
					+ "' wait to be released: the oldest are left to the end of their leases");
		}
		pump();
	}

	/** Whether that is to be told: once until there is room again. */
	private boolean dropOldest() {
		Iterator<PendingRelease> ages = this.byAge.iterator();
		PendingRelease oldest = ages.next();
		ages.remove();
		forget(oldest);
		this.due.remove(oldest);
		boolean tell = !this.overflowTold;
		this.overflowTold = true;
		return tell;
	}

	private void forget(PendingRelease entry) {
		if (entry.place != null) {
			this.withdrawals.remove(entry.place, entry);
		}
	}

	/** Starts a run if something is due, else wakes up when it will be. */
	private void pump() {
		long wait;
		long at;
		this.lock.lock();
		try {
			PendingRelease next = this.due.peek();
			if (next == null || this.closed || this.running >= MOST_AT_ONCE) {
				return;
			}
			at = Math.max(next.orderedBy, this.pausedUntil);
			wait = at - sinceOrigin();
			if (wait <= 0) {
				this.running++;
			}
			else if (at >= this.wakeUpAt) {
				return;
			}
			else {
				this.wakeUpAt = at;
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

	/** A signal that was brought forward meanwhile does nothing. */
	private void wakeUp(long at) {
		this.lock.lock();
		try {
			if (this.wakeUpAt != at) {
				return;
			}
			this.wakeUpAt = Long.MAX_VALUE;
		}
		finally {
			this.lock.unlock();
		}
		pump();
	}

	private void ended() {
		this.lock.lock();
		this.running--;
		this.lock.unlock();
	}

	private void run() {
		try {
			for (PendingRelease entry = take(); entry != null; entry = take()) {
				putBack(entry, attempt(entry));
			}
		}
		finally {
			ended();
			pump();
		}
	}

	private @Nullable PendingRelease take() {
		this.lock.lock();
		try {
			long now = sinceOrigin();
			PendingRelease next = this.due.peek();
			return (next != null && !this.closed && next.orderedBy <= now && this.pausedUntil <= now) ? this.due.poll()
					: null;
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
			logger.debug("Store '" + this.provider.name() + "' failed while cleaning up", ex);
			return ReleaseOutcome.UNKNOWN;
		}
	}

	private void putBack(PendingRelease entry, ReleaseOutcome outcome) {
		this.lock.lock();
		try {
			long now = sinceOrigin();
			boolean confirmed = outcome == ReleaseOutcome.RELEASED
					|| (outcome == ReleaseOutcome.NOT_HELD && entry.answerSeen);
			if (confirmed || entry.cancelled || now >= entry.giveUpAt || !this.byAge.contains(entry)) {
				this.byAge.remove(entry);
				this.overflowTold &= this.byAge.size() > CAPACITY / 2;
				forget(entry);
				return;
			}
			if (outcome == ReleaseOutcome.UNKNOWN) {
				this.pausedUntil = now + STORE_PAUSE;
				entry.orderedBy = now + STORE_PAUSE;
			}
			else {
				entry.orderedBy = now + entry.pause;
				entry.pause = Math.min(entry.pause * 2, LONGEST_PAUSE);
			}
			this.due.add(entry);
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Stops; what is left lasts one lease at most. */
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
