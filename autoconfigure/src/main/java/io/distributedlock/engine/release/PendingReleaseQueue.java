package io.distributedlock.engine.release;

import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.engine.concurrent.BoundedCall;
import io.distributedlock.engine.concurrent.EngineEnvironment;
import io.distributedlock.engine.concurrent.EngineEnvironment.Work;
import io.distributedlock.engine.concurrent.FutureCompletion;
import io.distributedlock.engine.concurrent.Nanos;
import io.distributedlock.engine.concurrent.NodeThreads;
import io.distributedlock.engine.concurrent.TimeLimit;
import io.distributedlock.engine.release.PendingRelease.Kind;
import io.distributedlock.provider.DeadlineTimer;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * The releases that no thread waits for: those whose end is told, and the queue of
 * releases and withdrawals that nobody is told of, for grants whose answer was lost or
 * came too late, releases without an answer, and entries in the wait queue without a
 * waiter.
 * <p>
 * An attempt whose answer was never seen may still be under way when its release finds
 * nothing. So only {@link ReleaseOutcome#RELEASED} confirms its release, or
 * {@link ReleaseOutcome#NOT_HELD} if the answer was seen. Otherwise the release is
 * repeated with growing pauses until no command can take effect any more. Such a grant is
 * never renewed, so that it lasts one lease at most.
 * <p>
 * {@link NodeReleases} decide what is sent next. A full queue drops its oldest entry,
 * those first whose grant may never have existed.
 */
public final class PendingReleaseQueue {

	private static final Log logger = LogFactory.getLog(PendingReleaseQueue.class);

	static final int CAPACITY = 10_000;

	/** How many threads a node of the store may occupy. */
	private static final int SHARE = 8;

	/** How long a command may be under way, beyond two leases. */
	private static final Duration SLACK = Duration.ofSeconds(60);

	private final LockProvider provider;

	private final Duration callTimeout;

	private final EngineEnvironment environment;

	private final Consumer<LockKey> freed;

	private final NodeThreads threads;

	private final DeadlineTimer repetition;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition sent = this.lock.newCondition();

	/** Attempts whose answer was not seen, in the order of their age. */
	private final Set<PendingRelease> unseen = new LinkedHashSet<>();

	/** All other entries, in the order of their age. */
	private final Set<PendingRelease> others = new LinkedHashSet<>();

	/**
	 * The entries that are withdrawals, by their {@link ShareKey}; changed under the
	 * lock.
	 */
	private final ConcurrentMap<Object, PendingRelease> withdrawals = new ConcurrentHashMap<>();

	/** The nodes with entries. */
	private final Map<Object, NodeReleases> nodes = new HashMap<>();

	/** Until when nothing is sent, after there was no thread for it. */
	private long noThreadUntilNanos;

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
		this.threads = new NodeThreads(environment, Work.RELEASES, SHARE);
		this.repetition = new DeadlineTimer(environment::nanoTime, environment::schedule, this::sendAllDue);
		this.noThreadUntilNanos = environment.nanoTime();
	}

	/**
	 * Releases a grant without waiting for the answer. A command that blocks gets a
	 * thread; the others are sent at once.
	 * @param command sends the release
	 * @param onEnd receives the outcome, before the end is told: unknown if there is no
	 * answer within the call time-out, whatever the reason
	 * @return completed on a callback thread, or without one if all are occupied for the
	 * call time-out; does not fail
	 */
	public CompletableFuture<Void> releaseAsync(LockKey key, Supplier<StoreCall<ReleaseOutcome>> command,
			Consumer<ReleaseOutcome> onEnd) {
		CompletableFuture<Void> told = new CompletableFuture<>();
		Consumer<ReleaseOutcome> end = (outcome) -> {
			try {
				onEnd.accept(outcome);
			}
			finally {
				Runnable completion = () -> told.complete(null);
				new FutureCompletion(this.environment, this.callTimeout, completion, completion).begin();
			}
		};
		if (!this.provider.isBlocking()) {
			send(key, command, end);
			return told;
		}
		TimeLimit limit = new TimeLimit(() -> end.accept(ReleaseOutcome.UNKNOWN));
		this.threads.execute(NodeThreads.node(this.provider, key), () -> {
			// Otherwise it is repeated already.
			if (!limit.isOver()) {
				send(key, command, (outcome) -> {
					if (limit.end()) {
						end.accept(outcome);
					}
				});
			}
		}, (ex) -> {
			logger.debug("There is no thread to release lock '" + key + "'", ex);
			limit.expire();
		});
		limit.begin(this.environment, this.callTimeout);
		return told;
	}

	/** Sends a release, which ends as unknown if it fails or takes too long. */
	private void send(LockKey key, Supplier<StoreCall<ReleaseOutcome>> command, Consumer<ReleaseOutcome> onEnd) {
		BoundedCall.begin(command, this.environment, this.callTimeout, (outcome, failure) -> {
			if (failure != null) {
				logger.debug("A release of lock '" + key + "' has failed", failure);
			}
			onEnd.accept((outcome != null) ? outcome : ReleaseOutcome.UNKNOWN);
		});
	}

	/**
	 * Releases what an attempt was granted, or may have been; the key is free at once.
	 */
	public void release(Object shareKey, OwnerId owner, Duration lease, boolean answerSeen) {
		release(shareKey, lease, answerSeen ? Kind.SEEN_GRANT : Kind.UNSEEN_GRANT,
				(timeout) -> this.provider.release(ShareKey.key(shareKey), owner, timeout));
	}

	/** Releases a grant by a command that is made anew whenever it is sent. */
	public void release(Object shareKey, Duration lease, Kind kind,
			Function<Duration, StoreCall<ReleaseOutcome>> command) {
		add(shareKey, kind, command, PendingReleaseQueue::doNothing, lease.multipliedBy(2).plus(SLACK)).run();
	}

	/**
	 * Ends the use of a contender. May be called under the lock of its key.
	 * @param shareKey what it contends for, a {@link ShareKey} or the key
	 * @param enqueued whether the wait queue may have an entry, which is withdrawn then
	 * @return what is to follow without that lock
	 */
	public Runnable end(Object shareKey, LockContender contender, boolean enqueued) {
		return enqueued ? add(shareKey, Kind.WAIT_QUEUE_ENTRY, contender::withdraw, contender::close, SLACK)
				: contender::close;
	}

	/** Whether any withdrawal is pending. */
	public boolean hasWithdrawals() {
		return !this.withdrawals.isEmpty();
	}

	/**
	 * Cancels the withdrawal for what this process is about to wait for again.
	 * @param shareKey a {@link ShareKey}, or a key
	 * @return what has become of it
	 */
	public Withdrawal cancelWithdrawal(Object shareKey) {
		if (this.withdrawals.isEmpty()) {
			return Withdrawal.NONE;
		}
		return locked(() -> {
			PendingRelease entry = this.withdrawals.get(shareKey);
			if (entry == null) {
				return Withdrawal.NONE;
			}
			return entry.isUnderWay() ? Withdrawal.UNDER_WAY : new Withdrawal(false, remove(entry));
		});
	}

	/** Returns whether the release of an exclusive grant of a key is pending. */
	public boolean isReleasing(LockKey key) {
		return locked(() -> this.others.stream()
			.anyMatch((entry) -> entry.kind == Kind.SEEN_GRANT && entry.shareKey.equals(key)));
	}

	/** Whether nothing is sent any more. */
	public boolean isClosed() {
		return locked(() -> this.closed);
	}

	public int size() {
		return locked(() -> this.unseen.size() + this.others.size());
	}

	private <T extends @Nullable Object> T locked(Supplier<T> action) {
		this.lock.lock();
		try {
			return action.get();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Adds an entry.
	 * @param mostTime for how long it is repeated at most
	 * @return what sends it, without the lock of its key
	 */
	private Runnable add(Object shareKey, Kind kind, Function<Duration, StoreCall<ReleaseOutcome>> command,
			Runnable onEnd, Duration mostTime) {
		Object node = NodeThreads.node(this.provider, ShareKey.key(shareKey));
		PendingRelease entry = new PendingRelease(shareKey, node, kind, command, onEnd,
				this.environment.nanoTime() + mostTime.toNanos());
		return locked(() -> {
			if (this.closed) {
				return entry::close;
			}
			boolean full = size() >= CAPACITY;
			boolean report = full && !this.overflowReported;
			this.overflowReported |= full;
			Runnable dropped = full ? remove(oldest()) : PendingReleaseQueue::doNothing;
			Runnable replaced = put(entry);
			return () -> {
				dropped.run();
				replaced.run();
				if (report) {
					logger.warn("More than " + CAPACITY + " locks of store '" + this.provider.name()
							+ "' wait to be released: the oldest are left to the end of their leases");
				}
				sendDue(entry.node);
			};
		});
	}

	/** Returns the oldest entry, those first whose grant may never have existed. */
	private PendingRelease oldest() {
		return (this.unseen.isEmpty() ? this.others : this.unseen).iterator().next();
	}

	/** Puts an entry in place of an earlier withdrawal, and returns what closes that. */
	private Runnable put(PendingRelease entry) {
		node(entry).add(entry);
		((entry.kind == Kind.UNSEEN_GRANT) ? this.unseen : this.others).add(entry);
		PendingRelease replaced = (entry.kind == Kind.WAIT_QUEUE_ENTRY) ? this.withdrawals.put(entry.shareKey, entry)
				: null;
		return (replaced != null) ? remove(replaced) : PendingReleaseQueue::doNothing;
	}

	private NodeReleases node(PendingRelease entry) {
		return this.nodes.computeIfAbsent(entry.node, (absent) -> new NodeReleases(this.provider.isBlocking()));
	}

	/**
	 * Removes an entry.
	 * @return what closes it, without the lock; one that is under way is closed at its
	 * end
	 */
	private Runnable remove(PendingRelease entry) {
		entry.cancelled = true;
		this.unseen.remove(entry);
		this.others.remove(entry);
		this.withdrawals.remove(entry.shareKey, entry);
		boolean underWay = entry.isUnderWay();
		if (entry.waitsIn != null) {
			entry.waitsIn.remove(entry);
		}
		if (node(entry).isEmpty()) {
			this.nodes.remove(entry.node);
		}
		this.overflowReported &= size() > CAPACITY / 2;
		this.sent.signalAll();
		return underWay ? PendingReleaseQueue::doNothing : entry::close;
	}

	private static void doNothing() {
	}

	private void sendAllDue() {
		locked(() -> List.copyOf(this.nodes.keySet())).forEach(this::sendDue);
	}

	/** Lets threads send what is due, as far as the node has room. */
	private void sendDue(Object node) {
		for (PendingRelease next = poll(node); next != null; next = poll(node)) {
			PendingRelease entry = next;
			this.threads.execute(node, () -> send(entry.key, () -> entry.command.apply(this.callTimeout),
					(outcome) -> ended(entry, outcome)), (ex) -> notSent(entry, ex));
		}
	}

	private @Nullable PendingRelease poll(Object node) {
		return this.<@Nullable PendingRelease>locked(() -> {
			NodeReleases releases = this.nodes.get(node);
			long now = this.environment.nanoTime();
			if (this.closed || releases == null || !Nanos.isPast(this.noThreadUntilNanos, now)) {
				return null;
			}
			PendingRelease entry = releases.poll(now);
			PendingRelease later = releases.nextRepeated();
			if (entry == null && later != null) {
				this.repetition.setAt(later.dueNanos);
			}
			return entry;
		});
	}

	private void ended(PendingRelease entry, ReleaseOutcome outcome) {
		recordEnd(entry, outcome).run();
		if (outcome != ReleaseOutcome.UNKNOWN || entry.kind == Kind.WAIT_QUEUE_ENTRY) {
			this.freed.accept(entry.key);
		}
		sendDue(entry.node);
	}

	private void notSent(PendingRelease entry, Throwable ex) {
		logger.debug("A pending release could not be sent; it is sent later", ex);
		recordEnd(entry, ReleaseOutcome.UNKNOWN).run();
		long later = this.environment.nanoTime() + PendingRelease.NO_ANSWER_PAUSE_NANOS;
		locked(() -> this.noThreadUntilNanos = later);
		this.repetition.setAt(later);
	}

	/** Removes an entry that has ended for good, or lets it wait for its next turn. */
	private Runnable recordEnd(PendingRelease entry, ReleaseOutcome outcome) {
		return locked(() -> {
			NodeReleases releases = node(entry);
			releases.ended(entry);
			long now = this.environment.nanoTime();
			if (entry.cancelled || this.closed || entry.isConfirmedBy(outcome)
					|| Nanos.isPast(entry.giveUpNanos, now)) {
				remove(entry);
				return entry::close;
			}
			entry.pauseAfter(outcome, now);
			releases.add(entry);
			this.sent.signalAll();
			return PendingReleaseQueue::doNothing;
		});
	}

	/**
	 * Waits until each entry was sent once.
	 * @param nanos how long to wait at most
	 */
	public void awaitSent(long nanos) throws InterruptedException {
		long left = nanos;
		this.lock.lock();
		try {
			while (left > 0 && !this.nodes.values().stream().allMatch(NodeReleases::areAllSent)) {
				left = this.sent.awaitNanos(left);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Stops the queue. Locks that are still pending last one lease at most. */
	public void close() {
		List<PendingRelease> left = locked(() -> {
			this.closed = true;
			List<PendingRelease> waiting = this.withdrawals.values()
				.stream()
				.filter((entry) -> !entry.isUnderWay())
				.toList();
			this.unseen.clear();
			this.others.clear();
			this.withdrawals.clear();
			return waiting;
		});
		left.forEach(PendingRelease::close);
	}

}
