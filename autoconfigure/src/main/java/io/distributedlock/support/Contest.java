package io.distributedlock.support;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.LockProvider;
import io.distributedlock.LockProvider.Contender;
import io.distributedlock.OwnerId;

/**
 * A gate's way to the store. Belongs to the head of the gate's queue, which hands it on
 * by leaving the queue under the gate's lock.
 */
final class Contest {

	private @Nullable Contender contender;

	/**
	 * The owner id for the next grant: kept while busy, dropped once granted or unclear.
	 */
	private @Nullable OwnerId owner;

	/** Whether a place of this process may stand in the store. */
	private boolean standing;

	Contender contender(LockProvider provider, LockKey key, Runnable changed) {
		Contender current = this.contender;
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
	@Nullable Contender standing() {
		return this.standing ? this.contender : null;
	}

}
