package io.distributedlock.zookeeper;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

import io.distributedlock.provider.OwnerId;

/**
 * Owners whose doors are known to be gone, until that is asked for. Bounded: who is
 * forgotten counts as not held.
 */
final class ReleasedOwners {

	private static final int MOST = 10_000;

	private final ReentrantLock lock = new ReentrantLock();

	private final Set<OwnerId> owners = new LinkedHashSet<>();

	void add(OwnerId owner) {
		this.lock.lock();
		try {
			this.owners.add(owner);
			if (this.owners.size() > MOST) {
				Iterator<OwnerId> oldest = this.owners.iterator();
				oldest.next();
				oldest.remove();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

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
