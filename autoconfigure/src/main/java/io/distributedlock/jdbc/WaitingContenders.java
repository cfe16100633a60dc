package io.distributedlock.jdbc;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

/**
 * Who waits in this process, by the text of the key: those whom a release elsewhere
 * concerns. Safe for use by many threads.
 */
final class WaitingContenders {

	private final Map<String, JdbcContender> contenders = new ConcurrentHashMap<>();

	/** A later contender of the key takes the place of an earlier one. */
	void add(String key, JdbcContender contender) {
		this.contenders.put(key, contender);
	}

	void remove(String key, JdbcContender contender) {
		this.contenders.remove(key, contender);
	}

	void removeThoseNotSeenSince(long instant) {
		this.contenders.values().removeIf((contender) -> !contender.hasAskedSince(instant));
	}

	boolean isEmpty() {
		return this.contenders.isEmpty();
	}

	int size() {
		return this.contenders.size();
	}

	void tell(String key) {
		@Nullable JdbcContender contender = this.contenders.get(key);
		if (contender != null) {
			contender.tell();
		}
	}

	void lookAll() {
		this.contenders.values().forEach(JdbcContender::look);
	}

}
