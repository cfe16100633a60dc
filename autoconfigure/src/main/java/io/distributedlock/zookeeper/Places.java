package io.distributedlock.zookeeper;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;

/**
 * The places of this process in the lines of the locks that it waits for. A place belongs
 * to the process: who waits next for the same lock takes it over.
 */
final class Places {

	private final ConcurrentHashMap<LockKey, Place> standing = new ConcurrentHashMap<>();

	private final Set<Departure> departing = ConcurrentHashMap.newKeySet();

	/** The place in the line of a lock, without a node at first. */
	Place of(LockKey key, LockPath path, Session session, long contender, Runnable changed) {
		Place place = this.standing.compute(key, (same, present) -> (present != null && present.session() == session)
				? present : new Place(key, path, session, new Watch(this, key), changed));
		place.takenOverBy(contender, changed);
		return place;
	}

	boolean has(Place place) {
		return this.standing.get(place.key()) == place;
	}

	/** The place in the line of a lock, if there is one, in the given session if any. */
	@Nullable Place find(LockKey key, @Nullable Session session) {
		Place place = this.standing.get(key);
		return (place != null && (session == null || place.session() == session)) ? place : null;
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
		if (place != null && node != null && place.left(node)) {
			depart(new Departure(place.session(), node));
			place.signal();
		}
	}

	private void depart(Departure departure) {
		this.departing.add(departure);
		departure.session().calls().delete(departure.node(), -1).whenComplete((gone, failure) -> {
			if (failure == null || !ZooKeeperErrors.isUnclear(failure)) {
				this.departing.remove(departure);
			}
		});
	}

	/** The connection is back: what was told meanwhile may be lost. */
	void reconnected(Session session) {
		for (Departure departure : this.departing) {
			if (departure.session() == session) {
				depart(departure);
			}
		}
		this.standing.values().forEach(Place::signal);
	}

	/** The session has ended: its places are gone, and who waits asks in the next. */
	void drop(Session session) {
		this.departing.removeIf((departure) -> departure.session() == session);
		for (Place place : this.standing.values()) {
			if (place.session() == session) {
				remove(place);
				place.signal();
			}
		}
	}

	/**
	 * Equal to every other of the same lock, so that the client keeps one for a node,
	 * however often it is waited for.
	 */
	private record Watch(Places places, LockKey key) implements Watcher {

		@Override
		public void process(WatchedEvent event) {
			Place place = this.places.find(this.key, null);
			if (place != null) {
				place.changed(event);
			}
		}

	}

	/** A node that nobody stands on any more, until its end is confirmed. */
	private record Departure(Session session, String node) {
	}

}
