package io.distributedlock.engine.release;

import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.engine.concurrent.EarliestSignal;
import io.distributedlock.engine.concurrent.EngineEnvironment;
import io.distributedlock.engine.concurrent.EngineEnvironment.Work;
import io.distributedlock.engine.concurrent.Nanos;
import io.distributedlock.engine.concurrent.NodeThreads;
import io.distributedlock.engine.release.PendingRelease.Kind;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;

/**
 * The queue of releases and withdrawals that no caller waits for: of grants whose answer
 * was lost or came too late, of releases without an answer, and of entries in the wait
 * queue without a waiter.
 * <p>
 * An attempt whose answer was never seen may still be under way when its release finds
 * nothing. So only {@link ReleaseOutcome#RELEASED} confirms its release, or
 * {@link ReleaseOutcome#NOT_HELD} if the answer was seen. Otherwise the release is
 * repeated with growing pauses until no command can take effect any more. Such a grant is
 * never renewed, so that it lasts one lease at most.
 * <p>
 * {@link ReleaseLanes} decide what is sent next. A full queue drops its oldest entry,
 * those first whose grant may never have existed.
 */
public final class PendingReleaseQueue {

	private static final Log logger = LogFactory.getLog(PendingReleaseQueue.class);

	static final int CAPACITY = 10_000;

	/** The pause of an entry after a command without an answer. */
	private static final long NO_ANSWER_PAUSE_NANOS = Duration.ofMillis(500).toNanos();

	/** How long a command may be under way, beyond two leases. */
	private static final Duration SLACK = Duration.ofSeconds(60);

	private final LockProvider provider;

	private final Duration callTimeout;

	private final EngineEnvironment environment;

	private final Consumer<LockKey> freed;

	private final ReleaseLanes lanes;

	private final EarliestSignal repetition;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition sent = this.lock.newCondition();

	private final Set<PendingRelease> unseen = new LinkedHashSet<>();

	private final Set<PendingRelease> others = new LinkedHashSet<>();

	private final ConcurrentMap<LockKey, PendingRelease> withdrawals = new ConcurrentHashMap<>();

	private boolean overflowReported;

	private boolean closed;

	/**
	 * Creates an empty queue.
	 * @param freed receives a key that may be free for this process now: the store
	 * notifies other processes, but not this one
	 */
	public PendingReleaseQueue(LockProvider provider, Duration callTimeout, EngineEnvironment environment,
			Consumer<LockKey> freed) {
		this.provider = provider;
		this.callTimeout = callTimeout;
		this.environment = environment;
		this.freed = freed;
		this.lanes = new ReleaseLanes(provider.isBlocking());
		this.repetition = new EarliestSignal(environment, this::startSending);
	}

	/**
	 * Releases what an attempt was granted, or may have been; the key is free at once.
	 */
	public void release(LockKey key, OwnerId owner, Duration lease, boolean answerSeen) {
		release(key, lease, answerSeen ? Kind.SEEN_GRANT : Kind.UNSEEN_GRANT,
				(timeout) -> this.provider.release(key, owner, timeout));
	}

	/** Releases a grant by a command that is made anew whenever it is sent. */
	public void release(LockKey key, Duration lease, Kind kind, PendingRelease.Command command) {
		long giveUpNanos = this.environment.nanoTime() + lease.multipliedBy(2).plus(SLACK).toNanos();
		add(new PendingRelease(key, NodeThreads.node(this.provider, key), kind, command, () -> {
		}, giveUpNanos)).run();
	}

	/** Withdraws an entry from the wait queue, and closes its contender after that. */
	private Runnable withdraw(LockKey key, LockContender contender) {
		return add(new PendingRelease(key, NodeThreads.node(this.provider, key), Kind.WAIT_QUEUE_ENTRY,
				contender::withdraw, contender::close, this.environment.nanoTime() + SLACK.toNanos()));
	}

	/**
	 * Ends the use of a contender. May be called under the lock of its key.
	 * @param enqueued whether the wait queue may have an entry, which is withdrawn then
	 * @return what is to follow without that lock
	 */
	public Runnable end(LockKey key, LockContender contender, boolean enqueued) {
		return enqueued ? withdraw(key, contender) : contender::close;
	}

	/**
	 * Cancels the withdrawal for a key that this process is about to wait for again.
	 * @return what has become of it
	 */
	public Withdrawal cancelWithdrawal(LockKey key) {
		if (this.withdrawals.isEmpty()) {
			return Withdrawal.NONE;
		}
		this.lock.lock();
		try {
			PendingRelease entry = this.withdrawals.get(key);
			if (entry == null) {
				return Withdrawal.NONE;
			}
			if (entry.underWay) {
				return Withdrawal.UNDER_WAY;
			}
			remove(entry);
			return new Withdrawal(false, () -> close(entry));
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Returns whether the release of a grant of a key is pending. */
	public boolean isReleasing(LockKey key) {
		return locked(
				() -> this.others.stream().anyMatch((entry) -> entry.kind == Kind.SEEN_GRANT && entry.key.equals(key)));
	}

	/** Whether nothing is sent any more. */
	public boolean isClosed() {
		return locked(() -> this.closed);
	}

	public int size() {
		return locked(() -> this.unseen.size() + this.others.size());
	}

	private <T extends @Nullable Object> T locked(Supplier<T> query) {
		this.lock.lock();
		try {
			return query.get();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Adds an entry, and returns what sends it. */
	private Runnable add(PendingRelease entry) {
		PendingRelease dropped;
		PendingRelease replaced;
		boolean report;
		this.lock.lock();
		try {
			if (this.closed) {
				return entry::close;
			}
			boolean full = this.unseen.size() + this.others.size() >= CAPACITY;
			dropped = full ? dropOldest() : null;
			report = full && !this.overflowReported;
			this.overflowReported |= full;
			replaced = put(entry);
		}
		finally {
			this.lock.unlock();
		}
		return () -> {
			close(dropped);
			close(replaced);
			if (report) {
				logger.warn("More than " + CAPACITY + " locks of store '" + this.provider.name()
						+ "' wait to be released: the oldest are left to the end of their leases");
			}
			startSending();
		};
	}

	private @Nullable PendingRelease put(PendingRelease entry) {
		this.lanes.add(entry);
		if (entry.kind == Kind.UNSEEN_GRANT) {
			this.unseen.add(entry);
			return null;
		}
		this.others.add(entry);
		PendingRelease replaced = (entry.kind == Kind.WAIT_QUEUE_ENTRY) ? this.withdrawals.put(entry.key, entry) : null;
		if (replaced != null) {
			remove(replaced);
		}
		return (replaced != null && !replaced.underWay) ? replaced : null;
	}

	/** Removes the oldest entry, those first whose grant may never have existed. */
	private @Nullable PendingRelease dropOldest() {
		Iterator<PendingRelease> ages = (this.unseen.isEmpty() ? this.others : this.unseen).iterator();
		PendingRelease oldest = ages.next();
		remove(oldest);
		return oldest.underWay ? null : oldest;
	}

	/** Removes an entry. One that is under way is closed at its end. */
	private void remove(PendingRelease entry) {
		entry.cancelled = true;
		this.unseen.remove(entry);
		this.others.remove(entry);
		this.withdrawals.remove(entry.key, entry);
		this.lanes.remove(entry);
		this.overflowReported &= this.unseen.size() + this.others.size() > CAPACITY / 2;
		this.sent.signalAll();
	}

	private static void close(@Nullable PendingRelease entry) {
		if (entry != null) {
			entry.close();
		}
	}

	/** Lets a thread send what is due, as far as the lanes have room. */
	private void startSending() {
		while (true) {
			PendingRelease entry = this.<@Nullable PendingRelease>locked(this::pollDue);
			if (entry == null) {
				return;
			}
			try {
				this.environment.executor(Work.RELEASES)
					.execute(() -> entry.send(this.environment, this.callTimeout, (outcome) -> ended(entry, outcome)));
			}
			catch (RejectedExecutionException | OutOfMemoryError ex) {
				logger.debug("A pending release could not be sent; it is sent later", ex);
				recordEnd(entry, ReleaseOutcome.UNKNOWN);
				this.repetition.setAt(this.environment.nanoTime() + NO_ANSWER_PAUSE_NANOS);
				return;
			}
		}
	}

	private @Nullable PendingRelease pollDue() {
		if (this.closed) {
			return null;
		}
		PendingRelease entry = this.lanes.poll(this.environment.nanoTime());
		PendingRelease next = this.lanes.nextRepeated();
		if (entry == null && next != null) {
			this.repetition.setAt(next.dueNanos);
		}
		return entry;
	}

	private void ended(PendingRelease entry, ReleaseOutcome outcome) {
		recordEnd(entry, outcome);
		if (outcome != ReleaseOutcome.UNKNOWN || entry.kind == Kind.WAIT_QUEUE_ENTRY) {
			this.freed.accept(entry.key);
		}
		startSending();
	}

	private void recordEnd(PendingRelease entry, ReleaseOutcome outcome) {
		boolean over;
		this.lock.lock();
		try {
			this.lanes.ended(entry);
			long now = this.environment.nanoTime();
			over = entry.cancelled || this.closed || entry.isConfirmedBy(outcome)
					|| Nanos.isPast(entry.giveUpNanos, now);
			if (over) {
				remove(entry);
			}
			else {
				if (outcome == ReleaseOutcome.UNKNOWN) {
					entry.dueNanos = now + NO_ANSWER_PAUSE_NANOS;
				}
				else {
					entry.pauseFrom(now);
				}
				this.lanes.repeat(entry);
			}
			this.sent.signalAll();
		}
		finally {
			this.lock.unlock();
		}
		if (over) {
			close(entry);
		}
	}

	/**
	 * Waits until each entry was sent once.
	 * @param nanos how long to wait at most
	 */
	public void awaitSent(long nanos) throws InterruptedException {
		long left = nanos;
		this.lock.lock();
		try {
			while (left > 0 && !this.lanes.areAllSent()) {
				left = this.sent.awaitNanos(left);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Stops the queue. Locks that are still pending last one lease at most. */
	public void close() {
		Set<PendingRelease> left = new LinkedHashSet<>();
		this.lock.lock();
		try {
			this.closed = true;
			left.addAll(this.withdrawals.values());
			this.unseen.clear();
			this.others.clear();
			this.lanes.clear();
			this.withdrawals.clear();
			left.removeIf((entry) -> entry.underWay);
		}
		finally {
			this.lock.unlock();
		}
		left.forEach(PendingRelease::close);
	}

}
