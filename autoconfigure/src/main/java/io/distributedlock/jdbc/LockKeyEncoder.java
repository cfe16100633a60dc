package io.distributedlock.jdbc;

import io.distributedlock.LockKey;
import io.distributedlock.provider.StoreText;

/**
 * Encoder of keys into texts of the key column: prefix and key, injectively. A text that
 * is too long for the column keeps its beginning and ends with a hash.
 */
final class LockKeyEncoder {

	/** The width of the key column in characters. */
	static final int LENGTH = 512;

	/** The key of the row whose order is the format number of the table. */
	static final String FORMAT_ROW = "%format";

	/** The key of the row that serves as the lock of the sweeper. */
	static final String SWEEPER_ROW = "%sweeper";

	private final String prefix;

	LockKeyEncoder(String prefix) {
		this.prefix = LockKey.of(prefix).encoded() + ":";
	}

	String encode(LockKey key) {
		return StoreText.shorten(this.prefix + key.encoded(), LENGTH);
	}

}
