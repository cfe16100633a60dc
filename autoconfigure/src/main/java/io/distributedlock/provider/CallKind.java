package io.distributedlock.provider;

/**
 * The purpose of a call to a store. It decides whether an interrupt ends the call, and
 * which share of workers and connections the call may use.
 *
 * @since 0.1.0
 */
public enum CallKind {

	/** An attempt to acquire a lock, or a check of the store. */
	ACQUIRE,
	/** A release or a withdrawal. */
	RELEASE,
	/** A renewal of held locks. */
	RENEWAL;

	/**
	 * Whether an interrupt of the caller ends the call.
	 * @return whether it does
	 */
	public boolean interruptible() {
		return this == ACQUIRE;
	}

}
