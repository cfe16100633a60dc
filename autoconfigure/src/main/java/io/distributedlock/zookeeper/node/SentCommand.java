package io.distributedlock.zookeeper.node;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.zookeeper.session.Session;

/**
 * Acquire or release that was sent and whose effect is not known yet. It is either under
 * way, or {@linkplain #due() due} to be decided by a read of the lock node.
 */
public final class SentCommand {

	private static final Duration FIRST_PAUSE = Duration.ofMillis(500);

	private static final int MAX_DOUBLINGS = 6;

	private final NodeAttempt attempt;

	private final ReleaseOutcome outcomeAfterSession;

	private final CompletableFuture<ReleaseOutcome> answer = new CompletableFuture<>();

	/** When the lock node is read next, or {@code null} while a request is under way. */
	private final AtomicReference<@Nullable Deadline> due = new AtomicReference<>();

	private final AtomicInteger pauses = new AtomicInteger();

	/** The {@code czxid} of the lock node, or 0 while it is not known. */
	private volatile long czxid;

	/**
	 * Whether a thread waits for the answer, which may overtake those on the event
	 * thread: no lock node is read meanwhile to decide another command for the lock.
	 */
	private volatile boolean awaited;

	/** Whether this command alone may release the lock node. */
	private volatile boolean claimed;

	private SentCommand(NodeAttempt attempt, long czxid, ReleaseOutcome outcomeAfterSession) {
		this.attempt = attempt;
		this.czxid = czxid;
		this.claimed = czxid != 0;
		this.outcomeAfterSession = outcomeAfterSession;
	}

	/** Creates an acquire, which may have created a lock node. */
	public static SentCommand ofAcquire(NodeAttempt attempt) {
		return new SentCommand(attempt, 0, ReleaseOutcome.NOT_HELD);
	}

	/**
	 * Creates a release. After the end of the session its outcome stays unknown: the
	 * release or that end may have been first.
	 */
	public static SentCommand ofRelease(LockNode node) {
		return new SentCommand(node.attempt(), node.czxid(), ReleaseOutcome.UNKNOWN);
	}

	public NodeAttempt attempt() {
		return this.attempt;
	}

	LockKey key() {
		return this.attempt.key();
	}

	OwnerId owner() {
		return this.attempt.owner();
	}

	Session session() {
		return this.attempt.session();
	}

	/** Returns the lock node that this command has claimed. */
	public LockNode lockNode() {
		return new LockNode(this.attempt, this.czxid, null, Duration.ZERO);
	}

	boolean isAwaited() {
		return this.awaited;
	}

	/** Records whether a thread waits for the answer. */
	void recordAwaited(boolean waits) {
		this.awaited = waits;
	}

	/** Returns the {@code czxid} of the lock node, or 0 while it is not known. */
	long czxid() {
		return this.czxid;
	}

	/** Records the lock node that the servers have named in a late answer. */
	void recordNode(long createdCzxid) {
		this.czxid = createdCzxid;
	}

	/**
	 * Claims a lock node, so that no other command releases it: a second request to
	 * delete it could delete the next lock node, which begins with the same version. Used
	 * by the registry, for one command of a lock at a time.
	 * @param commands all commands for the same lock
	 * @return {@code false} if the lock node belongs to another command
	 */
	boolean claim(long nodeCzxid, List<SentCommand> commands) {
		for (SentCommand other : commands) {
			if (other != this && other.czxid == nodeCzxid && (other.claimed || this.czxid == 0)) {
				return false;
			}
		}
		this.czxid = nodeCzxid;
		this.claimed = true;
		return true;
	}

	/**
	 * Returns what a release can be told: completes with the outcome, or at once with
	 * {@link ReleaseOutcome#UNKNOWN} if the servers refuse the release.
	 */
	public CompletableFuture<ReleaseOutcome> answer() {
		return this.answer;
	}

	/**
	 * Returns the outcome where the lock node is missing: a node that was known to belong
	 * to this command can only be missing because of its own release.
	 */
	ReleaseOutcome outcomeWithoutNode() {
		return (this.czxid != 0) ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD;
	}

	/** Returns the outcome where the session has ended. */
	ReleaseOutcome outcomeAfterSession() {
		return this.outcomeAfterSession;
	}

	/**
	 * Returns when to read the lock node, or {@code null} while a request is under way.
	 */
	@Nullable Deadline due() {
		return this.due.get();
	}

	/** Ends the request that was under way, and returns when to read the lock node. */
	Deadline postpone() {
		Deadline next = nextDue();
		this.due.set(next);
		return next;
	}

	/**
	 * Postpones the next read.
	 * @param present when it was due
	 * @return when it is due, or {@code present} if it has begun meanwhile
	 */
	Deadline postpone(Deadline present) {
		Deadline next = nextDue();
		return this.due.compareAndSet(present, next) ? next : present;
	}

	/** Returns the end of the next pause, each of which is longer than the one before. */
	private Deadline nextDue() {
		int doublings = Math.min(this.pauses.getAndIncrement(), MAX_DOUBLINGS);
		return Deadline.after(FIRST_PAUSE.multipliedBy(1L << doublings));
	}

	/** Begins again with the shortest pause, because the connection is back. */
	void resetPauses() {
		this.pauses.set(0);
	}

	/** Begins a request; returns {@code false} if one is under way. */
	boolean begin() {
		return this.due.getAndSet(null) != null;
	}

}
