package io.distributedlock.zookeeper;

import org.apache.zookeeper.data.Stat;

/** Data and {@link Stat} of a node as one request has read them. */
@SuppressWarnings("ArrayRecordComponent") // never compared
record ZNode(byte[] data, Stat stat) {

	int version() {
		return this.stat.getVersion();
	}

	boolean isIn(LockNodeState state) {
		return version() == state.version();
	}

	/** Returns whether the node is ephemeral and belongs to the given session. */
	boolean isOwnedBy(long sessionId) {
		return this.stat.getEphemeralOwner() == sessionId;
	}

}
