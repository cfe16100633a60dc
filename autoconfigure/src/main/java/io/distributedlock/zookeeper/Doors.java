package io.distributedlock.zookeeper;

import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.DeadlineTimer;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;

/**
 * The doors that this process holds. ZooKeeper has no expiry but that of the session, so
 * a door whose lease was not renewed is given back from here: one alarm, at the earliest
 * end of all.
 */
final class Doors {

	private final ConcurrentHashMap<LockKey, Door> held = new ConcurrentHashMap<>();

	private final DeadlineTimer alarm;

	private final Consumer<Door> lapsed;

	/**
	 * Creates an empty set.
	 * @param lapsed told of a door whose lease is over, already claimed; must not block
	 */
	Doors(LockTimer timer, Consumer<Door> lapsed) {
		this.alarm = new DeadlineTimer(timer, this::look);
		this.lapsed = lapsed;
	}

	void add(Door door) {
		this.held.put(door.key(), door);
		setAlarm(door);
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
		return remove(door, door.claim());
	}

	private boolean remove(Door door, boolean claimed) {
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

	/** Takes out what has lapsed. */
	void look() {
		long now = System.nanoTime();
		for (Door door : this.held.values()) {
			if (door.claimIfOver(now)) {
				remove(door, true);
				this.lapsed.accept(door);
			}
			else {
				setAlarm(door);
			}
		}
	}

	private void setAlarm(Door door) {
		Long end = door.leaseEnd();
		if (end != null) {
			this.alarm.setAt(end);
		}
	}

}
