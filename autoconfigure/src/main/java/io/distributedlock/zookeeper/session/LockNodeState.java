package io.distributedlock.zookeeper.session;

/**
 * State of a lock node, which is the version of its data. A lock without a lock node is
 * free. The transitions are listed in the documentation of this package.
 */
public enum LockNodeState {

	/** A process holds the lock. Its release deletes the node. */
	HELD(0),

	/**
	 * A process holds the lock, and others may wait: the head of the wait queue has set
	 * this state, or has created the node so. Its release reserves the lock.
	 */
	CONTENDED(1),

	/** No process holds the lock: it is reserved for the head of the wait queue. */
	RESERVED(2);

	private final int version;

	LockNodeState(int version) {
		this.version = version;
	}

	/** Returns the version that ZooKeeper reports for a node in this state. */
	public int version() {
		return this.version;
	}

}
