package io.distributedlock.actuate;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * The answer to a request to release a lock by force.
 *
 * @param outcome what has happened
 * @param message the fact and the remedy, for people
 * @since 0.1.0
 */
public record ForcedRelease(Outcome outcome, String message) implements OperationResponseBody {

	/** What has happened. */
	public enum Outcome {

		/** The hold with this token has ended. */
		RELEASED(200),
		/** No process holds the lock, or the application has no such provider. */
		NOT_HELD(404),
		/** The lock has another token than the given one; nothing has happened. */
		STALE_TOKEN(409),
		/** The store does not have the token of another process; nothing has happened. */
		TOKEN_UNKNOWN(409),
		/**
		 * The lock was released before, and is kept for the rest of its shortest hold.
		 */
		KEPT(409),
		/** The store could not answer, or has not confirmed the release. */
		STORE_FAILED(503);

		private final int status;

		Outcome(int status) {
			this.status = status;
		}

		/** Returns the status of the answer over HTTP. */
		int status() {
			return this.status;
		}

	}

}
