package io.distributedlock.jdbc;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import io.distributedlock.jdbc.dialect.NotificationPayload;

/**
 * Registry of the contenders of this process that wait, by the text of the key column.
 * Safe for use by many threads.
 */
final class NotifiedContenderRegistry {

	private final Map<String, NotifiedContender> contenders = new ConcurrentHashMap<>();

	/** Registers a contender, instead of an earlier one of the key. */
	void register(String key, NotifiedContender contender) {
		this.contenders.put(key, contender);
	}

	void unregister(String key, NotifiedContender contender) {
		this.contenders.remove(key, contender);
	}

	/**
	 * Unregisters contenders that have not attempted since then.
	 * @param nanos an instant of {@link System#nanoTime()}
	 */
	void unregisterIdleSince(long nanos) {
		this.contenders.values().removeIf((contender) -> !contender.hasAttemptedSince(nanos));
	}

	boolean isEmpty() {
		return this.contenders.isEmpty();
	}

	int size() {
		return this.contenders.size();
	}

	/** Returns the contender of a key, or {@code null}. */
	@Nullable NotifiedContender find(String key) {
		return this.contenders.get(key);
	}

	/** Forwards a payload to the contender of its key. Ignores one that is not valid. */
	void notifyContender(String text) {
		NotificationPayload payload = NotificationPayload.parse(text);
		NotifiedContender contender = (payload != null) ? find(payload.key()) : null;
		if (payload != null && contender != null) {
			contender.onNotification(payload);
		}
	}

	void listeningChanged() {
		this.contenders.values().forEach(NotifiedContender::onListeningChanged);
	}

}
