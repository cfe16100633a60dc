package io.distributedlock.local;

import io.distributedlock.provider.OwnerId;

/**
 * A process's place in the line for one key. Touched only within the store's atomic step
 * for that key.
 */
final class LocalQueueEntry {

	private final OwnerId process;

	private long contender;

	private Runnable changed;

	private long until;

	private boolean passedOver;

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

	void refresh(long contender, Runnable changed, long until) {
		this.contender = Math.max(this.contender, contender);
		this.changed = changed;
		this.until = until;
		this.passedOver = false;
	}

	/** Its turn has come; whether it is alive shows when it asks again. */
	void giveTurn(long until) {
		this.passedOver = true;
		if (until - this.until > 0) {
			this.until = until;
		}
	}

	boolean awaitsItsTurn() {
		return !this.passedOver;
	}

	/** A withdrawal that comes late must not take the place of a later contender. */
	boolean mayBeWithdrawnBy(long contender) {
		return this.contender <= contender;
	}

	boolean hasLapsed(long now) {
		return now - this.until >= 0;
	}

}
