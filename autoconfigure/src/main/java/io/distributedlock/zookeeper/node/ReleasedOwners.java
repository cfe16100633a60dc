package io.distributedlock.zookeeper.node;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

import io.distributedlock.provider.OwnerId;

/**
 * Set of the last owners whose release was confirmed, each until it is removed. It is
 * bounded: an owner that was dropped from it counts as not held.
 */
final class ReleasedOwners {

	static final int MAX_SIZE = 10_000;

	private final ReentrantLock lock = new ReentrantLock();

	private final Set<OwnerId> owners = new LinkedHashSet<>();

	void add(OwnerId owner) {
		this.lock.lock();
		try {
			this.owners.add(owner);
			if (this.owners.size() > MAX_SIZE) {
				Iterator<OwnerId> oldest = this.owners.iterator();
				oldest.next();
				oldest.remove();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Removes an owner and returns whether it was in the set. */
	boolean remove(OwnerId owner) {
		this.lock.lock();
		try {
			return this.owners.remove(owner);
		}
		finally {
			this.lock.unlock();
		}
	}

}
