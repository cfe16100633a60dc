package io.distributedlock.zookeeper;

/**
 * The nodes of one lock.
 *
 * @param door the node that is there while the lock is held or reserved
 * @param line the container of those who wait
 */
record LockPath(String door, String line) {

	/** What a process adds to the line's path for its place. */
	private static final int PLACE_LENGTH = 28;

	/** The bytes of ephemeral paths that a door costs its session. */
	int doorBytes() {
		return this.door.length();
	}

	int placeBytes() {
		return this.line.length() + PLACE_LENGTH;
	}

}
