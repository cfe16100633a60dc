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
	 * The key is held by the owner of the attempt.
	 *
	 * @param grant the grant
	 */
	record Granted(LockGrant grant) implements AttemptResult {
	}

	/**
	 * Another owner holds the key, or the key is reserved for another process.
	 *
	 * @param retryAfter when to attempt again without a signal; zero means at once
	 * @param holder the holder, or {@code null} if the store does not know it
	 * @param asked whether the store was asked; {@code false} if the provider knows from
	 * an earlier answer that an attempt is not worth a call yet. A request does not end
	 * with such an answer
	 * @param releasePending whether the provider still releases what the store granted
	 * the owner, or may yet grant it. The owner id is never used again then, since such a
	 * release would end a later grant
	 */
	record Busy(Duration retryAfter, @Nullable LockHolder holder, boolean asked,
			boolean releasePending) implements AttemptResult {

		/**
		 * Creates an answer after which nothing is to be released.
		 * @param retryAfter when to attempt again without a signal; zero means at once
		 * @param holder the holder, or {@code null} if the store does not know it
		 * @param asked whether the store was asked
		 */
		public Busy(Duration retryAfter, @Nullable LockHolder holder, boolean asked) {
			this(retryAfter, holder, asked, false);
		}

		/**
		 * Creates the answer of a store that was asked.
		 * @param retryAfter when to attempt again without a signal; zero means at once
		 * @param holder the holder, or {@code null} if the store does not know it
		 */
		public Busy(Duration retryAfter, @Nullable LockHolder holder) {
			this(retryAfter, holder, true);
		}

	}

}
