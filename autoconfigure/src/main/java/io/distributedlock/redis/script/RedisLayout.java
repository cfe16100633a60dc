package io.distributedlock.redis.script;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LayoutFormat;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.StoreText;

/**
 * The layout of what Redis stores for locks: names of keys and channels, and the
 * constants of their values. From release 0.1.0 on, a change of any of them is a new
 * {@link #FORMAT format}.
 * <p>
 * All keys of a lock have the same hash tag, so that they share a slot of a cluster. The
 * tag names one of 64 buckets, chosen by the lock's key: what stays in Redis does not
 * grow with the number of locks. Different locks have different names.
 */
public final class RedisLayout {

	/** The number of this layout, stored in the key of the format. */
	public static final LayoutFormat FORMAT = new LayoutFormat(1);

	/** The number of buckets. */
	public static final int BUCKETS = 64;

	/**
	 * The one member of a bucket's sorted set; its score is the last order of the bucket.
	 */
	public static final String ORDER_MEMBER = "order";

	/** The length of the id of an owner or a process, with which each value begins. */
	public static final int ID_LENGTH = 32;

	/** The length of a microsecond of the server in a value, since 1970. */
	public static final int MICROSECOND_LENGTH = 16;

	/** The length of the second of the grant in the header of a held lock. */
	public static final int GRANT_SECOND_LENGTH = 10;

	/** The length of the number that is the length of the label in that header. */
	public static final int LABEL_SIZE_LENGTH = 3;

	/** The length of id, state, and the microsecond at which the value was created. */
	public static final int RESERVED_HEADER_LENGTH = ID_LENGTH + 1 + MICROSECOND_LENGTH;

	/** The length of the header of a held lock, without the label at its end. */
	public static final int HELD_HEADER_LENGTH = RESERVED_HEADER_LENGTH + GRANT_SECOND_LENGTH + LABEL_SIZE_LENGTH;

	/** The length of an entry of the wait queue. */
	static final int ENTRY_LENGTH = ID_LENGTH + MICROSECOND_LENGTH;

	/** The most entries of a wait queue, which then loses the older half. */
	public static final int MOST_ENTRIES = 500;

	/** How long a released lock is reserved for one process. */
	public static final Duration RESERVATION = Duration.ofMillis(100);

	/** The longest time without an attempt of a waiting process. */
	public static final Duration POLL_INTERVAL = Duration.ofSeconds(1);

	/**
	 * How long others wait for the first process in the queue of a shared lock after each
	 * of its attempts, in microseconds.
	 */
	public static final long LONGEST_TURN_MICROS = TimeUnit.SECONDS.toMicros(3);

	/**
	 * The beginning of the error of a write at maxmemory, as a pattern of Lua. Redis 6.2
	 * puts the line of the script before the code.
	 */
	private static final String OUT_OF_MEMORY = "^[^%u]*OOM ";

	/** The most bytes of a lock's key that is not shortened. */
	private static final int KEY_LENGTH = 512;

	private static final String LOCK = "lock:";

	private static final String LAST_ORDER = "last-order";

	private final String prefix;

	private final String[] tags = new String[BUCKETS];

	private final byte[][] lastOrders = new byte[BUCKETS][];

	/**
	 * The lock of each bucket that was named last: a free lock is named for its attempt
	 * and again for its release.
	 */
	private final @Nullable RedisLockKeys[] recent = new RedisLockKeys[BUCKETS];

	public RedisLayout(String prefix) {
		this.prefix = LockKey.of(prefix).encoded();
		for (int bucket = 0; bucket < BUCKETS; bucket++) {
			this.tags[bucket] = "{" + this.prefix + ":b" + bucket / 10 + bucket % 10 + "}:";
			this.lastOrders[bucket] = bytes(this.tags[bucket] + LAST_ORDER);
		}
	}

	/** Names all keys of a lock. */
	public RedisLockKeys keys(LockKey key) {
		int bucket = bucket(key);
		String text = StoreText.shorten(key.encoded(), KEY_LENGTH);
		String tag = this.tags[bucket];
		RedisLockKeys keys = this.recent[bucket];
		if (keys == null || keys.name().length() != tag.length() + LOCK.length() + text.length()
				|| !keys.name().endsWith(text)) {
			String lock = tag + LOCK + text;
			keys = new RedisLockKeys(lock, bytes(lock), this.lastOrders[bucket]);
			this.recent[bucket] = keys;
		}
		return keys;
	}

	/** Names all keys of a lock by the first of them, as a notification carries it. */
	public RedisLockKeys keys(String lock) {
		int length = this.tags[0].length();
		String tag = lock.substring(0, length);
		return new RedisLockKeys(lock, bytes(lock), bytes(tag + LAST_ORDER));
	}

	/** Names the key of a lock's value alone. */
	public byte[] lock(LockKey key) {
		return keys(key).lock();
	}

	/** Names the key of the last order of a bucket, in the slot of all its locks. */
	public byte[] lastOrder(int bucket) {
		return this.lastOrders[bucket];
	}

	/** Chooses the bucket of a lock. */
	public static int bucket(LockKey key) {
		int hash = key.encoded().hashCode();
		return (hash ^ hash >>> 16) & BUCKETS - 1;
	}

	/** Returns the bucket that the hash tag of a key names by its last two digits. */
	public static int bucket(byte[] key) {
		int end = 0;
		while (key[end] != '}') {
			end++;
		}
		return (key[end - 2] - '0') * 10 + key[end - 1] - '0';
	}

	/** Names a key of a bucket that never exists; more may follow it. */
	public String noKey(int bucket) {
		return this.tags[bucket] + "none";
	}

	/** Names the key of the format. */
	public byte[] format() {
		return bytes(this.tags[0] + "format");
	}

	/** Names the key of the longest lease, on each node of a quorum. */
	public byte[] quorumLongestLease() {
		return bytes(this.tags[0] + "quorum-max-lease");
	}

	/**
	 * Names the key with the run id of a server that is a member of a quorum: it knows
	 * the last orders.
	 */
	public byte[] quorumMember() {
		return bytes(this.tags[0] + "quorum-member");
	}

	/** The beginning of each channel's name, which ends with the id of a process. */
	public String channelPrefix() {
		return this.prefix + ":notify:";
	}

	/**
	 * Declares the constants of this layout in Lua, as the first lines of each script, so
	 * that scripts and Java share one definition.
	 */
	static String scriptConstants() {
		return String.format(Locale.ROOT, """
				local ID_LENGTH, STATE, CREATED_START, CREATED_END = %d, %d, %d, %d
				local FLAG, BEHIND_FLAG, BEHIND_SCORE = STATE, CREATED_START, CREATED_END + 1
				local RESERVED_HEADER_LENGTH, LABEL_LENGTH_START, HELD_HEADER_LENGTH = %d, %d, %d
				local SCORE_LENGTH, ENTRY_LENGTH, LONGEST_QUEUE = %d, %d, %d
				local HELD, RESERVED, KEPT, SHARED = '%c', '%c', '%c', '%c'
				local ORDER_MEMBER = '%s'
				local LONGEST_RESERVATION_MILLIS, RESERVATION_EXPIRY_MILLIS, POLL_INTERVAL_MILLIS = %d, %d, %d
				local OUT_OF_MEMORY = '%s'
				local SHARED_HEADER_LENGTH, TURN_MICROS, LONGEST_TURN_MICROS = %d, %d, %d
				""", ID_LENGTH, ID_LENGTH + 1, ID_LENGTH + 2, RESERVED_HEADER_LENGTH, RESERVED_HEADER_LENGTH,
				RESERVED_HEADER_LENGTH + GRANT_SECOND_LENGTH + 1, HELD_HEADER_LENGTH, MICROSECOND_LENGTH, ENTRY_LENGTH,
				ENTRY_LENGTH * MOST_ENTRIES, State.HELD.code, State.RESERVED.code, State.KEPT.code, State.SHARED.code,
				ORDER_MEMBER, RESERVATION.multipliedBy(2).toMillis(), RESERVATION.plus(POLL_INTERVAL).toMillis(),
				POLL_INTERVAL.toMillis(), OUT_OF_MEMORY, RESERVED_HEADER_LENGTH + MICROSECOND_LENGTH,
				TimeUnit.MILLISECONDS.toMicros(RESERVATION.toMillis()), LONGEST_TURN_MICROS);
	}

	/** The label of a process, as the header of a held lock ends with it. */
	public static byte[] label(String text) {
		int size = bytes(text).length;
		return bytes(String.format(Locale.ROOT, "%0" + LABEL_SIZE_LENGTH + "d", size) + text);
	}

	/** The beginning of the value of a held lock, or of a share: its owner and state. */
	public static byte[] held(OwnerId owner) {
		byte[] beginning = new byte[ID_LENGTH + 1];
		owner.write(beginning, 0);
		beginning[ID_LENGTH] = (byte) State.HELD.code;
		return beginning;
	}

	/**
	 * The value of a lock as a grant of the free lock made it, which has no wait queue:
	 * its creation is the order of the grant. The value may be another one, since the
	 * order is higher than the creation if the server's clock is not ahead of the last
	 * order.
	 * @param label the label of the process, behind its length
	 */
	public static byte[] held(OwnerId owner, long order, byte[] label) {
		byte[] value = Arrays.copyOf(held(owner), HELD_HEADER_LENGTH - LABEL_SIZE_LENGTH + label.length);
		writeDigits(order, value, ID_LENGTH + 1, MICROSECOND_LENGTH);
		writeDigits(TimeUnit.MICROSECONDS.toSeconds(order), value, RESERVED_HEADER_LENGTH, GRANT_SECOND_LENGTH);
		System.arraycopy(label, 0, value, value.length - label.length, label.length);
		return value;
	}

	private static void writeDigits(long number, byte[] target, int from, int length) {
		long rest = number;
		for (int index = from + length - 1; index >= from; index--) {
			target[index] = (byte) ('0' + rest % 10);
			rest /= 10;
		}
	}

	/**
	 * Joins what an attempt of a process takes as one argument that is in the wait queue
	 * of a held lock.
	 * @param score its score, of 16 digits
	 * @param header what the header began with when the process was in the queue
	 */
	public static byte[] pollArgument(String process, long score, String header) {
		return bytes(process + '2' + score + header);
	}

	/**
	 * Joins what several scripts take as one argument.
	 * @param process the id of a process
	 * @param flag what the script asks about that process
	 * @param text what else it needs
	 */
	public static byte[] processArgument(String process, boolean flag, String text) {
		return bytes(process + (flag ? "1" : "0") + text);
	}

	public static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * The state of a lock, one character of its value after the id. A free lock has no
	 * value.
	 */
	public enum State {

		/** Held by the owner. */
		HELD('H'),
		/** Reserved for the process, until one poll interval before the key expires. */
		RESERVED('R'),
		/** Kept after its release, for the rest of its shortest hold. */
		KEPT('K'),
		/** Held by the owners of shares. */
		SHARED('S');

		private final char code;

		State(char code) {
			this.code = code;
		}

		/** Whether a value is in this state. */
		public boolean isOf(String value) {
			return value.length() > ID_LENGTH && value.charAt(ID_LENGTH) == this.code;
		}

	}

}
