package io.distributedlock.support;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.ReleaseOutcome;

/**
 * Something that the {@link PendingReleaseQueue} takes back. Its mutable fields are
 * guarded by the pendingReleases's lock.
 */
final class PendingRelease {

	private static final long SHORTEST_PAUSE = Duration.ofMillis(100).toNanos();

	final Command command;

	final boolean answerSeen;

	final long giveUpAt;

	final @Nullable LockKey place;

	long orderedBy;

	long pause = SHORTEST_PAUSE;

	boolean cancelled;

	PendingRelease(Command command, boolean answerSeen, long giveUpAt, @Nullable LockKey place) {
		this.command = command;
		this.answerSeen = answerSeen;
		this.giveUpAt = giveUpAt;
		this.place = place;
	}

	/** What is sent to the store. */
	interface Command {

		ReleaseOutcome send(Duration timeout);

	}

}
