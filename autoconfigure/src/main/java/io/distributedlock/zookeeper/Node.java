package io.distributedlock.zookeeper;

import org.apache.zookeeper.data.Stat;

/** A node as it was read. */
record Node(byte[] data, Stat stat) {

	int version() {
		return this.stat.getVersion();
	}

	boolean isOf(Session session) {
		return this.stat.getEphemeralOwner() == session.id();
	}

}
