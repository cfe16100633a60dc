package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import io.distributedlock.LockKey;
import io.distributedlock.LockProvider.Grant;
import io.distributedlock.OwnerId;

/**
 * A door that this process has put up: one tenure of a lock, from the server's answer
 * until somebody claims it to give it back. The server knows it by its session and
 * {@code czxid}; the owner id is known here alone.
 */
final class Door {

	private final LockKey key;

	private final LockPath path;

	private final OwnerId owner;

	private final Session session;

	private final long czxid;

	private final AtomicBoolean claimed = new AtomicBoolean();

	/** When it is given back though nobody asked: its lease was not renewed. */
	private volatile long leaseEnd;

	Door(LockKey key, LockPath path, OwnerId owner, Session session, long czxid, Duration lease) {
		this.key = key;
		this.path = path;
		this.owner = owner;
		this.session = session;
		this.czxid = czxid;
		this.leaseEnd = System.nanoTime() + lease.toNanos();
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

	long leaseEnd() {
		return this.leaseEnd;
	}

	Grant grant() {
		Duration left = Duration.ofNanos(Math.max(0, this.leaseEnd - System.nanoTime()));
		return new Grant(this.key, this.owner, this.czxid, left, this.session);
	}

	/** The server has just shown that it stands; fails once it was claimed. */
	boolean extend(Duration lease) {
		long end = System.nanoTime() + lease.toNanos();
		if (this.claimed.get()) {
			return false;
		}
		this.leaseEnd = end;
		return !this.claimed.get();
	}

	/** Whether the caller is the one to give it back. */
	boolean claim() {
		return this.claimed.compareAndSet(false, true);
	}

	/** Whether a node is this door, in whatever state. */
	boolean is(Node node) {
		return node.isOf(this.session) && node.stat().getCzxid() == this.czxid;
	}

}
