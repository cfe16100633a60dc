package io.distributedlock.support;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.ReleaseOutcome;

/**
 * One release or withdrawal in the {@link PendingReleaseQueue}. Its mutable fields are
 * guarded by the lock of that queue.
 */
final class PendingRelease {

	private static final long SHORTEST_PAUSE_NANOS = Duration.ofMillis(100).toNanos();

	final Command command;

	final boolean answerSeen;

	final long giveUpNanos;

	final @Nullable LockKey withdrawnKey;

	/** When it is due next, counted from the origin of the queue. */
	long dueNanos;

	long pauseNanos = SHORTEST_PAUSE_NANOS;

	boolean cancelled;

	PendingRelease(Command command, boolean answerSeen, long giveUpNanos, @Nullable LockKey withdrawnKey) {
		this.command = command;
		this.answerSeen = answerSeen;
		this.giveUpNanos = giveUpNanos;
		this.withdrawnKey = withdrawnKey;
	}

	/** The command that is sent to the store. */
	interface Command {

		ReleaseOutcome send(Duration timeout);

	}

}
