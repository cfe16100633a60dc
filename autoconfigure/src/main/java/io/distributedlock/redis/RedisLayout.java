package io.distributedlock.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LayoutFormat;
import io.distributedlock.provider.StoreText;

/**
 * The layout of what Redis stores for locks: names of keys and channels, and the
 * constants of their values. A change of any of them is a new {@link #FORMAT format}.
 * <p>
 * All keys of a lock have the same hash tag, so that they share a slot of a cluster. The
 * tag names one of 64 buckets, chosen by the lock's key: what stays in Redis does not
 * grow with the number of locks. Different locks have different names.
 */
final class RedisLayout {

	/** The number of this layout, stored in the key of the format. */
	static final LayoutFormat FORMAT = new LayoutFormat(1);

	/** The number of buckets. */
	static final int BUCKETS = 64;

	/**
	 * The one member of a bucket's sorted set; its score is the last order of the bucket.
	 */
	static final String ORDER_MEMBER = "order";

	/** The length of the id of an owner or a process, with which each value begins. */
	static final int ID_LENGTH = 32;

	/** The length of the second of the grant, which follows the state of a held lock. */
	static final int GRANT_SECOND_LENGTH = 10;

	/** How long a released lock is reserved for one process. */
	static final Duration RESERVATION = Duration.ofMillis(100);

	/** The longest time without an attempt of a waiting process. */
	static final Duration POLL_INTERVAL = Duration.ofSeconds(1);

	/** How long Redis keeps a wait queue after the last attempt of a process in it. */
	private static final Duration QUEUE_EXPIRY = Duration.ofSeconds(5);

	/** The longest text of a lock's key that is not shortened. */
	private static final int KEY_LENGTH = 512;

	private static final String LOCK = "lock:";

	private static final String QUEUE = "queue:";

	private static final String LAST_ORDER = "last-order";

	private final String prefix;

	private final String[] tags = new String[BUCKETS];

	private final byte[][] lastOrders = new byte[BUCKETS][];

	RedisLayout(String prefix) {
		this.prefix = LockKey.of(prefix).encoded();
		for (int bucket = 0; bucket < BUCKETS; bucket++) {
			this.tags[bucket] = "{" + this.prefix + ":b" + bucket / 10 + bucket % 10 + "}:";
			this.lastOrders[bucket] = bytes(this.tags[bucket] + LAST_ORDER);
		}
	}

	/** Names all keys of a lock. */
	RedisLockKeys keys(LockKey key) {
		int bucket = bucket(key);
		String text = StoreText.shorten(key.encoded(), KEY_LENGTH);
		String tag = this.tags[bucket];
		String lock = tag + LOCK + text;
		return new RedisLockKeys(lock, bytes(lock), this.lastOrders[bucket], bytes(tag + QUEUE + text));
	}

	/** Names all keys of a lock by the first of them, as a notification carries it. */
	RedisLockKeys keys(String lock) {
		int length = this.tags[0].length();
		String tag = lock.substring(0, length);
		return new RedisLockKeys(lock, bytes(lock), bytes(tag + LAST_ORDER),
				bytes(tag + QUEUE + lock.substring(length + LOCK.length())));
	}

	/** Names the key of a lock's value alone. */
	byte[] lock(LockKey key) {
		return bytes(this.tags[bucket(key)] + LOCK + StoreText.shorten(key.encoded(), KEY_LENGTH));
	}

	/** Names the key of the last order of a bucket, in the slot of all its locks. */
	byte[] lastOrder(int bucket) {
		return this.lastOrders[bucket];
	}

	/** Chooses the bucket of a lock. */
	static int bucket(LockKey key) {
		int hash = key.encoded().hashCode();
		return (hash ^ hash >>> 16) & BUCKETS - 1;
	}

	/** Names the key of the format. */
	byte[] format() {
		return bytes(this.tags[0] + "format");
	}

	/** The beginning of each channel's name, which ends with the id of a process. */
	String channelPrefix() {
		return this.prefix + ":notify:";
	}

	/**
	 * Declares the constants of this layout in Lua, as the first lines of each script, so
	 * that scripts and Java share one definition.
	 */
	static String scriptConstants() {
		return String.format(Locale.ROOT, """
				local ID_LENGTH, STATE = %d, %d
				local HELD, CONTENDED, RESERVED = '%c', '%c', '%c'
				local ORDER_MEMBER = '%s'
				local RESERVATION_MICROS, LONGEST_RESERVATION_MICROS = %d, %d
				local RESERVATION_EXPIRY_MILLIS, QUEUE_EXPIRY_MILLIS = %d, %d
				""", ID_LENGTH, ID_LENGTH + 1, State.HELD.code, State.CONTENDED.code, State.RESERVED.code, ORDER_MEMBER,
				micros(RESERVATION), micros(RESERVATION.multipliedBy(2)), RESERVATION.plus(POLL_INTERVAL).toMillis(),
				QUEUE_EXPIRY.toMillis());
	}

	private static long micros(Duration duration) {
		return TimeUnit.NANOSECONDS.toMicros(duration.toNanos());
	}

	static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * The state of a lock, one character of its value after the id. A free lock has no
	 * value.
	 */
	enum State {

		/** Held by the owner; no process has entered the wait queue since the grant. */
		HELD('H'),
		/** Held by the owner; processes may be in the wait queue. */
		CONTENDED('C'),
		/** Reserved for the process, until the microsecond that follows. */
		RESERVED('R');

		private final char code;

		State(char code) {
			this.code = code;
		}

		/** Whether a value is in this state. */
		boolean isOf(String value) {
			return value.length() > ID_LENGTH && value.charAt(ID_LENGTH) == this.code;
		}

	}

}
