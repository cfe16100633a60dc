package io.distributedlock.zookeeper.session;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.OwnerId;

/**
 * Paths of the nodes of one lock, or of one share of it.
 *
 * @param lockNode the ephemeral node that exists while the lock is held or reserved, or
 * while the share is held
 * @param queue the container of the wait queue
 * @param shares the container of all shares, which has the path of the exclusive lock
 * node, or {@code null} if these are the paths of that
 */
public record LockPath(String lockNode, String queue, @Nullable String shares) {

	/** The slash, the session's id, a hyphen and the sequence number of an entry. */
	private static final int ENTRY_NAME_LENGTH = 28;

	/** Creates the paths of an exclusive lock. */
	public LockPath(String lockNode, String queue) {
		this(lockNode, queue, null);
	}

	/** Returns the paths of a share, whose node has the name of its owner. */
	public LockPath ofShare(OwnerId owner) {
		return new LockPath(this.lockNode + "/" + owner.text(), this.queue, this.lockNode);
	}

	/** Returns the paths of the exclusive lock with the same key. */
	public LockPath exclusive() {
		return (this.shares != null) ? new LockPath(this.shares, this.queue) : this;
	}

	public boolean isShare() {
		return this.shares != null;
	}

	/** Returns the name of the lock, which its queue has too. */
	public String name() {
		return this.queue.substring(this.queue.lastIndexOf('/') + 1);
	}

	/** Returns the length of the lock node's path. */
	public int lockNodeLength() {
		return this.lockNode.length();
	}

	/** Returns the length of a queue entry's path. */
	public int queueEntryLength() {
		return this.queue.length() + ENTRY_NAME_LENGTH;
	}

}
