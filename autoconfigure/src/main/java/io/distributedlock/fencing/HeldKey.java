package io.distributedlock.fencing;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.provider.StoreText;

/**
 * A key that is held, and its fence. Sorted by the fence's key, so that transactions move
 * their fences in one order.
 *
 * @param text the key of the fence
 * @param key the key of the lock
 * @param token the holder's token
 */
record HeldKey(String text, LockKey key, FencingToken token) implements Comparable<HeldKey> {

	/** The width of the key column in bytes. */
	private static final int LENGTH = 512;

	/**
	 * Encodes token source, prefix and key injectively: tokens of different sources never
	 * meet in one row.
	 */
	static HeldKey of(String prefix, LockLease lease, LockKey key) {
		return new HeldKey(text(prefix, lease.tokenSource(), key), key, lease.fencingToken(key));
	}

	static String text(String prefix, String tokenSource, LockKey key) {
		return StoreText.shorten(LockKey.of(tokenSource, prefix).encoded() + ":" + key.encoded(), LENGTH);
	}

	@Override
	public int compareTo(HeldKey other) {
		return this.text.compareTo(other.text);
	}

}
