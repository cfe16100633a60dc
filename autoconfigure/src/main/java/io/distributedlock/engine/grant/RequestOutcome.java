package io.distributedlock.engine.grant;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;

/**
 * The end of a request for one key.
 */
public sealed interface RequestOutcome {

	/**
	 * The lock is held.
	 *
	 * @param hold the hold, which is renewed and watched already
	 */
	record Acquired(Hold hold) implements RequestOutcome {
	}

	/**
	 * The lock was busy for the whole wait time.
	 *
	 * @param holder the holder, or {@code null} if not known
	 */
	record Busy(@Nullable LockHolder holder) implements RequestOutcome {
	}

	/**
	 * The request failed.
	 *
	 * @param failure the reason, thrown as it is
	 */
	record Failed(Throwable failure) implements RequestOutcome {
	}

	/** The requester left before the end. */
	record Abandoned() implements RequestOutcome {
	}

}
