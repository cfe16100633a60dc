package io.distributedlock.engine.grant;

/**
 * The queue of the key of a grant, as the grant knows it.
 */
public interface GrantQueue {

	/**
	 * Ends a hold and offers its grant to the next waiter, if there is one that may have
	 * it.
	 * @return {@code false} if the hold has not ended: the grant is to be released
	 */
	boolean offerToNext(HeldGrant heldGrant, int holdNumber);

	/** Handles the end of a grant, after the store has recorded it too. */
	void ended(HeldGrant heldGrant);

}
