package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.OwnerId;
import io.distributedlock.support.LockTimer;

/**
 * The doors that this process holds. ZooKeeper has no expiry but that of the session, so
 * a door whose lease was not renewed is given back from here: one pending signal of the
 * timer, at the earliest end of all.
 */
final class Doors {

	private final ConcurrentHashMap<LockKey, Door> held = new ConcurrentHashMap<>();

	private final LockTimer timer;

	private final Consumer<Door> lapsed;

	private final long origin = System.nanoTime();

	private final ReentrantLock lock = new ReentrantLock();

	/** When the next look is due, counted from the origin; written under the lock. */
	private volatile long nextLook = Long.MAX_VALUE;

	private @Nullable Future<?> pending;

	/**
	 * Creates an empty set.
	 * @param lapsed told of a door whose lease is over, already claimed; must not block
	 */
	Doors(LockTimer timer, Consumer<Door> lapsed) {
		this.timer = timer;
		this.lapsed = lapsed;
	}

	void add(Door door) {
		this.held.put(door.key(), door);
		lookAt(door.leaseEnd() - this.origin);
	}

	/** The door that was put up for an owner, if it still stands for it. */
	@Nullable Door find(LockKey key, OwnerId owner) {
		Door door = this.held.get(key);
		return (door != null && door.owner().equals(owner) && !door.session().hasEnded()) ? door : null;
	}

	/** Whether a node is a door that is held. */
	boolean holds(LockKey key, Node node) {
		Door door = this.held.get(key);
		return door != null && door.is(node);
	}

	/** Takes a door out, to be given back by the caller. */
	boolean claim(Door door) {
		boolean claimed = door.claim();
		this.held.remove(door.key(), door);
		if (claimed) {
			door.session().free(door.path().doorBytes());
		}
		return claimed;
	}

	/** The session has ended, and with it its doors. */
	void drop(Session session) {
		this.held.values().removeIf((door) -> door.session() == session);
	}

	private void lookAt(long instant) {
		if (instant >= this.nextLook) {
			return;
		}
		this.lock.lock();
		try {
			if (instant < this.nextLook) {
				if (this.pending != null) {
					this.pending.cancel(false);
				}
				this.nextLook = instant;
				this.pending = this.timer.schedule(() -> look(instant),
						Duration.ofNanos(instant - (System.nanoTime() - this.origin) + 1));
			}
		}
		catch (RejectedExecutionException ex) {
			// The timer has ended with the application, and soon the session does.
			this.nextLook = Long.MIN_VALUE;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void look(long instant) {
		this.lock.lock();
		try {
			if (this.nextLook != instant) {
				return;
			}
			this.nextLook = Long.MAX_VALUE;
		}
		finally {
			this.lock.unlock();
		}
		look();
	}

	/** Takes out what has lapsed. */
	void look() {
		long earliest = Long.MAX_VALUE;
		long now = System.nanoTime();
		for (Door door : this.held.values()) {
			if (door.leaseEnd() - now > 0) {
				earliest = Math.min(earliest, door.leaseEnd() - this.origin);
			}
			else if (claim(door)) {
				this.lapsed.accept(door);
			}
		}
		if (earliest != Long.MAX_VALUE) {
			lookAt(earliest);
		}
	}

}
