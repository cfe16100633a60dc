package io.distributedlock.provider;

/**
 * What a call of a store is for: whether an interrupt ends it, and how much of what calls
 * share it may take.
 *
 * @since 0.1.0
 */
public enum CallKind {

	/** Asks for a lock, or looks whether one can be had. */
	ACQUIRE,
	/** Gives back: a release, a withdrawal, cleaning up. */
	RELEASE,
	/** Keeps what is held. */
	RENEWAL;

	/**
	 * Whether an interrupt of the caller ends the call.
	 * @return whether it does
	 */
	public boolean interruptible() {
		return this == ACQUIRE;
	}

}
