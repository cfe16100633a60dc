package io.distributedlock.zookeeper.session;

/**
 * Paths of the nodes of one lock.
 *
 * @param lockNode the ephemeral node that exists while the lock is held or reserved
 * @param queue the container of the wait queue
 */
public record LockPath(String lockNode, String queue) {

	/** The slash, the session's id, a hyphen and the sequence number of an entry. */
	private static final int ENTRY_NAME_LENGTH = 28;

	/** Returns the name of the lock node. */
	public String name() {
		return this.lockNode.substring(this.lockNode.lastIndexOf('/') + 1);
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
