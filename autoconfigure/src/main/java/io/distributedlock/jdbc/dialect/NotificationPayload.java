package io.distributedlock.jdbc.dialect;

import org.jspecify.annotations.Nullable;

/**
 * Payload of a notification: what a release or a withdrawal has left of the wait queue.
 * Its text is {@code reserved first since key}, with {@code -} for what is missing. A
 * process that does not understand a payload ignores it, and polls.
 *
 * @param reserved the process for which the lock is reserved, or {@code null}
 * @param first the process in the first entry of the wait queue, or {@code null}
 * @param sinceMicros when the process that last moved to the first entry was first
 * refused, in microseconds since 1970, or {@code null} if that is not known
 * @param key the text of the key column
 */
public record NotificationPayload(@Nullable String reserved, @Nullable String first, @Nullable Long sinceMicros,
		String key) {

	private static final String NONE = "-";

	/** Returns the payload of a text, or {@code null} if the text is none. */
	public static @Nullable NotificationPayload parse(String text) {
		// A key can have blanks.
		String[] parts = text.split(" ", 4);
		if (parts.length < 4) {
			return null;
		}
		try {
			String since = value(parts[2]);
			return new NotificationPayload(value(parts[0]), value(parts[1]),
					(since != null) ? Long.valueOf(since) : null, parts[3]);
		}
		catch (NumberFormatException ex) {
			return null;
		}
	}

	private static @Nullable String value(String part) {
		return part.equals(NONE) ? null : part;
	}

}
