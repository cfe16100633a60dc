package io.distributedlock.support;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;

/**
 * The contention of a {@link KeyQueue} in the store: its contender, and the owner id of
 * its next attempt. Accessed only by the head of the queue, and when the queue closes.
 */
final class StoreContention {

	private @Nullable LockContender contender;

	/**
	 * The owner id for the next grant: kept while busy, dropped once granted or unclear.
	 */
	private @Nullable OwnerId owner;

	/** Whether the wait queue in the store may have an entry of this process. */
	private boolean enqueued;

	LockContender contender(LockProvider provider, LockKey key, Runnable onNotified) {
		LockContender current = this.contender;
		if (current == null) {
			current = provider.newContender(key, onNotified);
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

	void recordBusy(boolean willWait) {
		this.enqueued |= willWait;
	}

	void recordFailure(boolean willWait) {
		this.owner = null;
		this.enqueued |= willWait;
	}

	/** Records a grant, which removes the entry from the wait queue. */
	void recordGrant() {
		this.owner = null;
		this.enqueued = false;
	}

	/** Returns the contender if the wait queue may have its entry. */
	@Nullable LockContender enqueued() {
		return this.enqueued ? this.contender : null;
	}

}
