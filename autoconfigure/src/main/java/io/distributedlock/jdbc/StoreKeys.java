package io.distributedlock.jdbc;

import io.distributedlock.LockKey;
import io.distributedlock.provider.StoreText;

/**
 * Turns keys into the texts of the key column: prefix and key, injectively; what does not
 * fit is shortened to a text of its own.
 */
final class StoreKeys {

	/** The width of the key column. */
	static final int LENGTH = 512;

	/** The row that carries the layout's format number in its order. */
	static final String FORMAT = "%format";

	/** The row by which processes agree on who sweeps. */
	static final String SWEEPER = "%sweeper";

	private final String prefix;

	StoreKeys(String prefix) {
		this.prefix = LockKey.of(prefix).encoded() + ":";
	}

	String text(LockKey key) {
		return StoreText.fit(this.prefix + key.encoded(), LENGTH);
	}

}
