package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;

/**
 * A door that this process has put up: one grant of a lock, from the server's answer
 * until somebody claims it to give it back. The server knows it by its session and
 * {@code czxid}; the owner id is known here alone.
 */
final class Door {

	private final LockKey key;

	private final LockPath path;

	private final OwnerId owner;

	private final Session session;

	private final long czxid;

	/**
	 * When it is given back though nobody asked, because its lease was not renewed;
	 * {@code null} once it was claimed. One value, so that what is claimed is never
	 * renewed, and what was renewed does not lapse by its former end.
	 */
	private final AtomicReference<@Nullable Long> leaseEnd;

	Door(LockKey key, LockPath path, OwnerId owner, Session session, long czxid, Duration lease) {
		this.key = key;
		this.path = path;
		this.owner = owner;
		this.session = session;
		this.czxid = czxid;
		this.leaseEnd = new AtomicReference<>(System.nanoTime() + lease.toNanos());
	}

	LockKey key() {
		return this.key;
	}

	LockPath path() {
		return this.path;
	}

	OwnerId owner() {
		return this.owner;
	}

	Session session() {
		return this.session;
	}

	long czxid() {
		return this.czxid;
	}

	/** As {@link System#nanoTime()} counts; {@code null} once it was claimed. */
	@Nullable Long leaseEnd() {
		return this.leaseEnd.get();
	}

	/** How much of its lease is left, at most 0 once it was claimed. */
	long left(long now) {
		Long end = this.leaseEnd.get();
		return (end != null) ? end - now : 0;
	}

	LockGrant grant() {
		Duration left = Duration.ofNanos(Math.max(0, left(System.nanoTime())));
		return new LockGrant(this.key, this.owner, this.czxid, left, this.session);
	}

	/** The server has just shown that it stands; fails once it was claimed. */
	boolean extend(Duration lease) {
		Long end = this.leaseEnd.get();
		while (end != null && !this.leaseEnd.compareAndSet(end, System.nanoTime() + lease.toNanos())) {
			end = this.leaseEnd.get();
		}
		return end != null;
	}

	/** Whether the caller is the one to give it back. */
	boolean claim() {
		return this.leaseEnd.getAndSet(null) != null;
	}

	/** The same, unless there is some of its lease left. */
	boolean claimIfOver(long now) {
		Long end = this.leaseEnd.get();
		return end != null && end - now <= 0 && this.leaseEnd.compareAndSet(end, null);
	}

	/** Whether a node is this door, in whatever state. */
	boolean is(Node node) {
		return node.isOf(this.session) && node.stat().getCzxid() == this.czxid;
	}

}
