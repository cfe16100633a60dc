package io.distributedlock.redis;

/** What a call is for: whether an interrupt ends it, and which workers may run it. */
enum CallKind {

	/** Asks for a lock. */
	ACQUIRE,
	/** Gives back: a release or a withdrawal. */
	RELEASE,
	/** Keeps what is held. */
	RENEWAL;

	boolean interruptible() {
		return this == ACQUIRE;
	}

}
