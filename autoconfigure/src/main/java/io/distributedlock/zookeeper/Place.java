package io.distributedlock.zookeeper;

import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;

/**
 * This process's place in one lock's line, in one session. The head of the line watches
 * the door, everybody else the place before it. Its fields belong to whoever has its
 * lock; watches only set what is looked at next, and signal.
 */
final class Place {

	private final LockKey key;

	private final LockPath path;

	private final Session session;

	private final ReentrantLock lock = new ReentrantLock();

	private final Watcher watcher;

	private volatile Runnable changed;

	/** The number of the last contender that waits here. */
	private volatile long contender;

	/** The path of the place's node, or {@code null} while there is none. */
	private final AtomicReference<@Nullable String> node = new AtomicReference<>();

	/** Whether a node may be there that is not known. */
	private volatile boolean unclear;

	/** How many stand before, or -1 where that is to be looked up. */
	private volatile int before = -1;

	/** Whether the door has changed since the head last looked. */
	private volatile boolean told;

	/** The path of what is waited for, if a change of it will be told. */
	private final AtomicReference<@Nullable String> watched = new AtomicReference<>();

	/**
	 * Creates a place without a node.
	 * @param watcher told of what is watched, to tell {@link #changed}
	 */
	Place(LockKey key, LockPath path, Session session, Watcher watcher, Runnable changed) {
		this.key = key;
		this.path = path;
		this.session = session;
		this.watcher = watcher;
		this.changed = changed;
	}

	LockKey key() {
		return this.key;
	}

	LockPath path() {
		return this.path;
	}

	Session session() {
		return this.session;
	}

	ReentrantLock lock() {
		return this.lock;
	}

	void takenOverBy(long number, Runnable signal) {
		this.contender = Math.max(this.contender, number);
		this.changed = signal;
	}

	/** A withdrawal that comes late must not take the place of a later contender. */
	boolean mayBeWithdrawnBy(long number) {
		return this.contender <= number;
	}

	void signal() {
		this.changed.run();
	}

	@Nullable String node() {
		return this.node.get();
	}

	/** A node is being made whose name is not known before the answer. */
	void joining() {
		this.unclear = true;
	}

	/** The node is known, and counted. */
	void joined(String path) {
		this.before = -1;
		this.watched.set(null);
		this.node.set(path);
		this.unclear = false;
	}

	/** No node is there that is not known. */
	void settled() {
		this.unclear = false;
	}

	/**
	 * The node is gone.
	 * @return whether it was the place's
	 */
	boolean left(String path) {
		if (!this.node.compareAndSet(path, null)) {
			return false;
		}
		this.session.free(this.path.placeBytes());
		this.before = -1;
		this.watched.set(null);
		return true;
	}

	/** Whether nothing stands in the store for it. */
	boolean isEmpty() {
		return !this.unclear && this.node.get() == null;
	}

	boolean isUnclear() {
		return this.unclear;
	}

	boolean isHead() {
		return this.before == 0;
	}

	/** Whether the head was told of a change, which is likely to be a reservation. */
	boolean wasTold() {
		boolean was = this.told;
		this.told = false;
		return was && isHead();
	}

	boolean isPlaced() {
		return this.before >= 0;
	}

	/** Where it stands; what is to be watched now is another node. */
	void placed(int before) {
		this.before = before;
		this.watched.set(null);
	}

	boolean isWatching() {
		return this.watched.get() != null;
	}

	/** To be said before the watch is set, which may be told of at once. */
	void beginWatching(String path) {
		this.watched.set(path);
	}

	/** What was to be watched is not. */
	void endWatching() {
		this.watched.set(null);
	}

	Watcher watcher() {
		return this.watcher;
	}

	/** What is watched may have changed; the watch is used up. */
	void changed(WatchedEvent event) {
		String present = this.watched.get();
		if (event.getType() == EventType.None || present == null || !present.equals(event.getPath())
				|| !this.watched.compareAndSet(present, null)) {
			return;
		}
		if (isHead()) {
			this.told = true;
		}
		else {
			// Nobody comes in between: behind the first means first now.
			this.before = (event.getType() == EventType.NodeDeleted && this.before == 1) ? 0 : -1;
		}
		signal();
	}

}
