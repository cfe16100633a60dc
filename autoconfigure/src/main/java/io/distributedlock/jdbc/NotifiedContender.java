package io.distributedlock.jdbc;

import org.jspecify.annotations.Nullable;

import io.distributedlock.jdbc.dialect.NotificationPayload;

/** Contender that notifications of the database concern. Safe for use by many threads. */
interface NotifiedContender {

	/** Returns the id by which the contender enters wait queues. */
	String id();

	/** Handles a notification: the lock was released, or an entry was withdrawn. */
	void onNotification(NotificationPayload payload);

	/** Handles the begin or the end of listening: a notification may be lost. */
	void onListeningChanged();

	/**
	 * Returns when this process was first refused, in microseconds since 1970 by the
	 * database's clock, or {@code null} if it was not.
	 */
	@Nullable Long sinceMicros();

	/**
	 * Whether the contender attempted or polled since then.
	 * @param nanos an instant of {@link System#nanoTime()}
	 */
	boolean hasAttemptedSince(long nanos);

}
