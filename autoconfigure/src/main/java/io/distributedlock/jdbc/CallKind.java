package io.distributedlock.jdbc;

/** What a call is for: whether an interrupt ends it, and how far it may fill the pool. */
enum CallKind {

	/** Asks for a lock, or looks whether one can be had. */
	ACQUIRE,
	/** Gives back: a release, a withdrawal, the sweeper. */
	RELEASE,
	/** Keeps what is held. */
	RENEWAL;

	boolean interruptible() {
		return this == ACQUIRE;
	}

}
