package io.distributedlock.testkit;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;

/**
 * Key that one process holds and for which others are queued.
 *
 * @param enqueuedNanos a time before the first of them was queued
 */
record QueuedKey(LockKey key, ContractProcess holder, LockGrant grant, long enqueuedNanos) {

	/** Acquires the key, then enqueues the waiters in their order. */
	static QueuedKey create(LockKey key, ContractProcess holder, ContractProcess... waiters) {
		LockGrant grant = holder.acquire(key);
		QueuedKey created = new QueuedKey(key, holder, grant, System.nanoTime());
		for (ContractProcess waiter : waiters) {
			waiter.enqueue(key);
		}
		return created;
	}

	ReleaseOutcome release() {
		return this.holder.release(this.grant);
	}

	/** Sends one attempt of a waiter. */
	AttemptResult attempt(ContractProcess waiter) {
		return waiter.attempt(this.key, OwnerId.random(), ContractProcess.LEASE, true);
	}

	/** Acquires the key by one attempt of a waiter; fails if the key is busy. */
	QueuedKey grantTo(ContractProcess waiter) {
		return grantedTo(waiter, attempt(waiter));
	}

	/** Returns the key as held by a waiter; fails if its attempt was refused. */
	QueuedKey grantedTo(ContractProcess waiter, AttemptResult attempt) {
		return new QueuedKey(this.key, waiter, ContractProcess.granted(attempt), this.enqueuedNanos);
	}

	/**
	 * Returns whether a release at this time found the waiters queued, and the
	 * reservation that it made is still valid.
	 */
	boolean isWithinGrace(long releasedNanos) {
		return ContractSupport.since(releasedNanos).compareTo(ContractConstants.GRACE) < 0
				&& ContractSupport.since(this.enqueuedNanos).compareTo(ContractConstants.ENTRY_LIFE) < 0;
	}

}
