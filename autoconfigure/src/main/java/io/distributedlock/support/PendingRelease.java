package io.distributedlock.support;

import java.time.Duration;

import io.distributedlock.LockKey;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * One release or withdrawal in the {@link PendingReleaseQueue}. Its mutable fields are
 * guarded by the lock of that queue.
 */
final class PendingRelease {

	private static final long SHORTEST_PAUSE_NANOS = Duration.ofMillis(100).toNanos();

	private static final long LONGEST_PAUSE_NANOS = Duration.ofSeconds(30).toNanos();

	final LockKey key;

	final Kind kind;

	final Command command;

	/** What follows once the entry has left the queue, however that came. */
	final Runnable onEnd;

	final long giveUpNanos;

	/** When it is due next by the nano time, unless it was never sent. */
	long dueNanos;

	boolean sentBefore;

	boolean underWay;

	boolean cancelled;

	private long pauseNanos = SHORTEST_PAUSE_NANOS;

	PendingRelease(LockKey key, Kind kind, Command command, Runnable onEnd, long giveUpNanos) {
		this.key = key;
		this.kind = kind;
		this.command = command;
		this.onEnd = onEnd;
		this.giveUpNanos = giveUpNanos;
	}

	/** Whether an outcome shows that nothing of it is left in the store. */
	boolean isConfirmedBy(ReleaseOutcome outcome) {
		return outcome == ReleaseOutcome.RELEASED
				|| (outcome == ReleaseOutcome.NOT_HELD && this.kind != Kind.UNSEEN_GRANT);
	}

	/** Sets when it is due again, with a pause that grows. */
	void pauseFrom(long nowNanos) {
		this.dueNanos = nowNanos + this.pauseNanos;
		this.pauseNanos = Math.min(this.pauseNanos * 2, LONGEST_PAUSE_NANOS);
	}

	/** What is to be taken back. */
	enum Kind {

		/** A grant whose answer was seen. */
		SEEN_GRANT,
		/** An attempt whose answer was not seen, and which may take effect later. */
		UNSEEN_GRANT,
		/** An entry of the wait queue. */
		WAIT_QUEUE_ENTRY

	}

	/** The command that is sent to the store. */
	interface Command {

		StoreCall<ReleaseOutcome> send(Duration timeout);

	}

}
