package io.distributedlock.fencing;

import io.distributedlock.LockKey;
import io.distributedlock.provider.StoreText;

/**
 * Encoder of keys into texts of the key column: token source, prefix and key,
 * injectively. Tokens of different sources never meet in one row.
 */
final class FenceKeyEncoder {

	/** The width of the key column in characters. */
	private static final int LENGTH = 512;

	private final String prefix;

	FenceKeyEncoder(String prefix) {
		this.prefix = prefix;
	}

	String encode(String tokenSource, LockKey key) {
		return StoreText.shorten(LockKey.of(tokenSource, this.prefix).encoded() + ":" + key.encoded(), LENGTH);
	}

}
