package io.distributedlock.zookeeper.session;

import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/** Data and {@link Stat} of a node as one request has read them. */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record ZNode(byte[] data, Stat stat) {

	public int version() {
		return this.stat.getVersion();
	}

	/**
	 * Returns whether the node is in a state of a lock. One that somebody else has put
	 * here is in none, whatever its version.
	 */
	public boolean isIn(LockNodeState state) {
		return version() == state.version() && !isForeign(this);
	}

	/**
	 * Returns whether a node is neither a lock node nor a container of shares: somebody
	 * else has put it there, and may write to it.
	 */
	public static boolean isForeign(@Nullable ZNode node) {
		return node != null && node.isPersistent() && !node.isContainer();
	}

	/**
	 * Returns whether the node is the container of shares, which belongs to no session
	 * and has had a share at least: a node that somebody else has put here has none.
	 */
	public boolean isContainer() {
		return isPersistent() && this.stat.getCversion() > 0;
	}

	private boolean isPersistent() {
		long owner = this.stat.getEphemeralOwner();
		return owner == 0 || owner == Long.MIN_VALUE;
	}

	/** Returns whether shares have ended with their sessions and left the container. */
	public boolean isEmptyContainer() {
		return isContainer() && this.stat.getNumChildren() == 0;
	}

	/** Returns whether the node is ephemeral and belongs to the given session. */
	public boolean isOwnedBy(long sessionId) {
		return this.stat.getEphemeralOwner() == sessionId;
	}

}
