package io.distributedlock.zookeeper;

import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;

/**
 * The places of this process in the lines of the locks that it waits for. A place belongs
 * to the process: who waits next for the same lock takes it over.
 */
final class Places {

	private final ConcurrentHashMap<LockKey, Place> standing = new ConcurrentHashMap<>();

	/** The place in the line of a lock, without a node at first. */
	Place of(LockKey key, LockPath path, Session session, Runnable changed) {
		Place place = this.standing.compute(key, (same, present) -> (present != null && present.session() == session)
				? present : new Place(key, path, session, changed));
		place.takenOverBy(changed);
		return place;
	}

	@Nullable Place find(LockKey key) {
		return this.standing.get(key);
	}

	void remove(Place place) {
		this.standing.remove(place.key(), place);
	}

	/**
	 * The lock is given back by this process, for which it is not to be reserved: whoever
	 * waits here joins the end of the line.
	 */
	void leave(LockKey key) {
		Place place = this.standing.get(key);
		String node = (place != null) ? place.node() : null;
		if (place != null && node != null) {
			place.left();
			place.session().calls().delete(node, -1);
			place.signal();
		}
	}

	/** The session has ended: its places are gone, and who waits asks in the next. */
	void drop(Session session) {
		for (Place place : this.standing.values()) {
			if (place.session() == session) {
				remove(place);
				place.signal();
			}
		}
	}

	/** What was told while there was no connection may be lost. */
	void signalAll() {
		this.standing.values().forEach(Place::signal);
	}

}
