package io.distributedlock.fencing;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;

/**
 * A key that is held, and its fence. Sorted by the fence's key, so that transactions move
 * their fences in one order.
 *
 * @param text the key of the fence
 * @param key the key of the lock
 * @param token the holder's token
 */
record HeldKey(String text, LockKey key, FencingToken token) implements Comparable<HeldKey> {

	@Override
	public int compareTo(HeldKey other) {
		return this.text.compareTo(other.text);
	}

}
