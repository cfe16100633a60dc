package io.distributedlock.jdbc.dialect;

import java.time.Duration;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * What a dialect says of the session that holds a row lock.
 *
 * @param id the expression for the id of the session, by which the server can end it
 * @param bound the statement that bounds a wait for a row, or {@code null} if the
 * settings of the session do
 * @param keep the statement that answers while the session lives, and lets the server end
 * it once it was idle for a time
 * @param restore the statement that undoes this after the transaction, or {@code null} if
 * its end does
 */
record RowLockSession(String id, @Nullable Function<Duration, String> bound, Function<Duration, String> keep,
		@Nullable String restore) {

	/** A session that the server never ends for being idle. */
	static RowLockSession withoutIdleTimeout(String id) {
		return new RowLockSession(id, null, (idle) -> "SELECT 1", null);
	}

	/** Returns whole seconds that are at least a duration, as some servers count them. */
	static long seconds(Duration duration, long most) {
		return Math.min(duration.toSeconds() + 1, most);
	}

}
