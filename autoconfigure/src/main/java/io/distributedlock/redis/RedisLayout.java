package io.distributedlock.redis;

import java.nio.charset.StandardCharsets;

import io.distributedlock.LockKey;
import io.distributedlock.provider.StoreText;

/**
 * Names the keys of locks: <code>{prefix:b07}:lock:key</code>, and in the same slot of a
 * cluster the line of those who wait for it and the last order of its bucket. The bucket,
 * one of 64, comes from the key, so that what belongs to buckets does not grow with the
 * number of keys. Injective. These names and the choice of the bucket are part of the
 * layout's format.
 */
final class RedisLayout {

	/** The layout that this version understands. */
	static final long FORMAT = 1;

	static final int BUCKETS = 64;

	/** The longest text of a key that is not shortened. */
	private static final int LENGTH = 512;

	private static final String LOCK = "lock:";

	private static final String LINE = "line:";

	private final String prefix;

	private final String[] tags = new String[BUCKETS];

	private final byte[][] orders = new byte[BUCKETS][];

	RedisLayout(String prefix) {
		this.prefix = LockKey.of(prefix).encoded();
		for (int bucket = 0; bucket < BUCKETS; bucket++) {
			this.tags[bucket] = "{" + this.prefix + ":b" + bucket / 10 + bucket % 10 + "}:";
			this.orders[bucket] = bytes(this.tags[bucket] + "orders");
		}
	}

	RedisLockKeys names(LockKey key) {
		int bucket = bucket(key);
		String text = StoreText.fit(key.encoded(), LENGTH);
		String tag = this.tags[bucket];
		String lock = tag + LOCK + text;
		return new RedisLockKeys(lock, bytes(lock), this.orders[bucket], bytes(tag + LINE + text));
	}

	/** The names that belong to a lock's, of whatever key. */
	RedisLockKeys names(String lock) {
		int tag = this.tags[0].length();
		return new RedisLockKeys(lock, bytes(lock), bytes(lock.substring(0, tag) + "orders"),
				bytes(lock.substring(0, tag) + LINE + lock.substring(tag + LOCK.length())));
	}

	/** The name of a key's lock alone. */
	byte[] lock(LockKey key) {
		return bytes(this.tags[bucket(key)] + LOCK + StoreText.fit(key.encoded(), LENGTH));
	}

	static int bucket(LockKey key) {
		int hash = key.encoded().hashCode();
		return (hash ^ hash >>> 16) & BUCKETS - 1;
	}

	byte[] format() {
		return bytes(this.tags[0] + "format");
	}

	/** What stands before a process in the name of its inbox. */
	String inboxes() {
		return this.prefix + ":inbox:";
	}

	static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
