package io.distributedlock.engine;

import io.distributedlock.engine.grant.GrantQueue;
import io.distributedlock.engine.grant.HeldGrant;

/** The queue of a grant whose key nobody waits for. */
final class NoQueue implements GrantQueue {

	@Override
	public boolean offerToNext(HeldGrant heldGrant, int holdNumber) {
		return false;
	}

	@Override
	public void ended(HeldGrant heldGrant) {
	}

}
