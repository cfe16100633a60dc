package io.distributedlock.engine.grant;

/**
 * The offer of a grant to the next waiter of its key.
 */
public interface GrantOffer {

	/**
	 * Ends a hold and offers its grant to the next waiter, if there is one that may have
	 * it.
	 * @return {@code false} if the hold has not ended: the grant is to be released
	 */
	boolean offerToNext(HeldGrant heldGrant, int holdNumber);

}
