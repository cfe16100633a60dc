package io.distributedlock.local;

import io.distributedlock.provider.OwnerId;

/**
 * The entry of one process in the wait queue of a key. Accessed only within the store's
 * atomic step for that key.
 */
final class LocalQueueEntry {

	private final OwnerId process;

	private long contender;

	private Runnable changed;

	private long untilNanos;

	private boolean reservedBefore;

	LocalQueueEntry(OwnerId process, Runnable changed) {
		this.process = process;
		this.changed = changed;
	}

	OwnerId process() {
		return this.process;
	}

	Runnable changed() {
		return this.changed;
	}

	void refresh(long contender, Runnable changed, long untilNanos) {
		this.contender = Math.max(this.contender, contender);
		this.changed = changed;
		this.untilNanos = untilNanos;
		this.reservedBefore = false;
	}

	/**
	 * Reserves the key for this process, which has to attempt again to show that it is
	 * alive.
	 */
	void reserve(long untilNanos) {
		this.reservedBefore = true;
		if (untilNanos - this.untilNanos > 0) {
			this.untilNanos = untilNanos;
		}
	}

	/** Whether the process has attempted since the key was last reserved for it. */
	boolean mayBeReserved() {
		return !this.reservedBefore;
	}

	/**
	 * Whether no later contender uses the entry, which a late withdrawal must leave
	 * alone.
	 */
	boolean mayBeWithdrawnBy(long contender) {
		return this.contender <= contender;
	}

	boolean hasExpired(long nowNanos) {
		return nowNanos - this.untilNanos >= 0;
	}

}
