package io.distributedlock.support;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;

/**
 * A queue's way to the store. Belongs to the head of the queue's queue, which hands it on
 * by leaving the queue under the queue's lock.
 */
final class StoreContention {

	private @Nullable LockContender contender;

	/**
	 * The owner id for the next grant: kept while busy, dropped once granted or unclear.
	 */
	private @Nullable OwnerId owner;

	/** Whether a place of this process may stand in the store. */
	private boolean standing;

	LockContender contender(LockProvider provider, LockKey key, Runnable changed) {
		LockContender current = this.contender;
		if (current == null) {
			current = provider.enter(key, changed);
			this.contender = current;
		}
		return current;
	}

	OwnerId owner() {
		OwnerId current = this.owner;
		if (current == null) {
			current = OwnerId.random();
			this.owner = current;
		}
		return current;
	}

	void busy(boolean willWait) {
		this.standing |= willWait;
	}

	void unclear(boolean willWait) {
		this.owner = null;
		this.standing |= willWait;
	}

	/** A grant uses the place up. */
	void granted() {
		this.owner = null;
		this.standing = false;
	}

	/** The contender whose place may stand in the store, if there is one. */
	@Nullable LockContender standing() {
		return this.standing ? this.contender : null;
	}

}
