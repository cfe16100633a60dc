package io.distributedlock.zookeeper.node;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.zookeeper.session.LockPath;
import io.distributedlock.zookeeper.session.Session;
import io.distributedlock.zookeeper.session.ZNode;

/**
 * Lock node that this process has created: one grant of a lock, from the server's answer
 * until its release begins. ZooKeeper identifies it by session and {@code czxid}; only
 * this process knows the owner id. Safe for use by many threads.
 */
public final class LockNode {

	private final NodeAttempt attempt;

	private final long czxid;

	/**
	 * Until when a release takes it for granted that other processes wait; {@code null}
	 * if the node was not created from the wait queue.
	 */
	private final @Nullable Deadline othersUntil;

	/**
	 * The end of the lease; {@code null} once the release has begun. One value, so that
	 * no renewal follows the begin of a release and a renewed lease does not expire at
	 * its former end.
	 */
	private final AtomicReference<@Nullable Deadline> leaseEnd;

	/**
	 * Creates the local state of a granted lock.
	 * @param attempt the attempt that created the node
	 * @param czxid the node's {@code czxid}, which is the order of the grant
	 * @param othersUntil until when a release takes it for granted that other processes
	 * wait, or {@code null} if the node was not created from the wait queue
	 * @param lease how long the grant lasts if it is not renewed
	 */
	public LockNode(NodeAttempt attempt, long czxid, @Nullable Deadline othersUntil, Duration lease) {
		this.attempt = attempt;
		this.czxid = czxid;
		this.othersUntil = othersUntil;
		this.leaseEnd = new AtomicReference<>(Deadline.after(lease));
	}

	NodeAttempt attempt() {
		return this.attempt;
	}

	public LockKey key() {
		return this.attempt.key();
	}

	public LockPath path() {
		return this.attempt.path();
	}

	public OwnerId owner() {
		return this.attempt.owner();
	}

	public Session session() {
		return this.attempt.session();
	}

	public long czxid() {
		return this.czxid;
	}

	/** Returns whether the node was created contended, by the head of the wait queue. */
	public boolean isCreatedContended() {
		return this.othersUntil != null;
	}

	/** Returns whether this process has just seen that others wait for the lock. */
	boolean sawOthers() {
		return this.othersUntil != null && !this.othersUntil.isPast();
	}

	/** Returns the end of the lease, or {@code null} once the release has begun. */
	@Nullable Deadline leaseEnd() {
		return this.leaseEnd.get();
	}

	/** Returns the rest of the lease, at most 0 once the release has begun. */
	public long remainingNanos() {
		Deadline end = this.leaseEnd.get();
		return (end != null) ? end.remainingNanos() : 0;
	}

	/** Returns the reserved lock node that has taken the place of the last share. */
	LockNode reservation(Stat stat) {
		NodeAttempt released = new NodeAttempt(key(), path().exclusive(), owner(), session());
		return new LockNode(released, stat.getCzxid(), null, Duration.ZERO);
	}

	public LockGrant grant() {
		Duration remaining = Duration.ofNanos(Math.max(0, remainingNanos()));
		return new LockGrant(key(), owner(), this.czxid, remaining, session());
	}

	/**
	 * Renews the lease from now on.
	 * @return {@code false} if the release has begun
	 */
	public boolean renew(Duration lease) {
		Deadline end = this.leaseEnd.get();
		while (end != null && !this.leaseEnd.compareAndSet(end, Deadline.after(lease))) {
			end = this.leaseEnd.get();
		}
		return end != null;
	}

	/**
	 * Ends the lease so that the node can be released.
	 * @return {@code true} for exactly one caller, which has to release the node
	 */
	boolean endLease() {
		return this.leaseEnd.getAndSet(null) != null;
	}

	/**
	 * Ends the lease as {@link #endLease()} does, but only if it has expired.
	 */
	boolean endExpiredLease(Deadline now) {
		Deadline end = this.leaseEnd.get();
		return end != null && !now.isBefore(end) && this.leaseEnd.compareAndSet(end, null);
	}

	/** Returns whether a node that was read is this lock node, in any state. */
	public boolean isSameAs(ZNode node) {
		return node.isOwnedBy(session().id()) && node.stat().getCzxid() == this.czxid;
	}

}
