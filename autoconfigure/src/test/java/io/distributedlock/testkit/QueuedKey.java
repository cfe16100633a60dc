package io.distributedlock.testkit;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;

/** Key that one process holds and for which others are queued. */
record QueuedKey(LockKey key, ContractProcess holder, LockGrant grant) {

	/** Acquires the key, then enqueues the waiters in their order. */
	static QueuedKey create(LockKey key, ContractProcess holder, ContractProcess... waiters) {
		QueuedKey created = new QueuedKey(key, holder, holder.acquire(key));
		for (ContractProcess waiter : waiters) {
			waiter.enqueue(key);
		}
		return created;
	}

	ReleaseOutcome release() {
		return this.holder.release(this.grant);
	}

	/** Acquires the key by one attempt of a waiter; fails if the key is busy. */
	QueuedKey grantTo(ContractProcess waiter) {
		return new QueuedKey(this.key, waiter,
				ContractProcess.granted(waiter.attempt(this.key, OwnerId.random(), ContractProcess.LEASE, true)));
	}

	/** Returns whether a reservation made by a release at this time is still valid. */
	static boolean isWithinGrace(long releasedNanos) {
		return ContractSupport.since(releasedNanos).compareTo(ContractConstants.GRACE) < 0;
	}

}
