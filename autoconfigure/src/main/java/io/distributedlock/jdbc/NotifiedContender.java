package io.distributedlock.jdbc;

/** Contender that notifications of the database concern. Safe for use by many threads. */
interface NotifiedContender {

	/** Handles a notification: the lock was released, or an entry was withdrawn. */
	void onNotification();

	/** Handles the begin or the end of listening: a notification may be lost. */
	void onListeningChanged();

	/**
	 * Whether the contender attempted or polled since then.
	 * @param nanos an instant of {@link System#nanoTime()}
	 */
	boolean hasAttemptedSince(long nanos);

}
