package io.distributedlock.provider;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;

/**
 * The answer to an attempt.
 *
 * @since 0.1.0
 */
public sealed interface AttemptResult {

	/**
	 * The key is held by the owner that asked.
	 *
	 * @param grant the grant
	 */
	record Granted(LockGrant grant) implements AttemptResult {
	}

	/**
	 * Somebody else holds the key.
	 *
	 * @param retryAfter when to ask again though nothing was signalled; zero means at
	 * once
	 * @param holder who holds it, or {@code null} where the store cannot tell
	 */
	record Busy(Duration retryAfter, @Nullable LockHolder holder) implements AttemptResult {
	}

}
