package io.distributedlock.jdbc.dialect;

import org.jspecify.annotations.Nullable;

/**
 * Payload of a notification: what a release or a withdrawal has left of the wait queue.
 * Its text is {@code reserved first since key}, with dots and 0 for what is missing. A
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

	/** Returns the payload of a text, or {@code null} if the text is none. */
	public static @Nullable NotificationPayload parse(String text) {
		// A key can have blanks.
		String[] parts = text.split(" ", 4);
		if (parts.length < 4) {
			return null;
		}
		try {
			long since = Long.parseLong(parts[2]);
			return new NotificationPayload(process(parts[0]), process(parts[1]), (since > 0) ? since : null, parts[3]);
		}
		catch (NumberFormatException ex) {
			return null;
		}
	}

	private static @Nullable String process(String part) {
		return part.equals(LockRow.NONE) ? null : part;
	}

}
