package io.distributedlock.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;

import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.RedisLayout.State;
import io.distributedlock.redis.script.RedisLockKeys;

/**
 * What the value of a lock says, read from the server.
 */
public final class LockValues {

	private static final int ENTRY_LENGTH = RedisLayout.ID_LENGTH + RedisLayout.MICROSECOND_LENGTH;

	private LockValues() {
	}

	/** Makes the header of a held lock. */
	public static String held(String owner, long createdMicros, long grantSecond, String label) {
		return owner + "H" + createdMicros + grantSecond + new String(RedisLayout.label(label), StandardCharsets.UTF_8);
	}

	/** Makes the header of a reserved lock. */
	public static String reserved(String process, long createdMicros) {
		return process + "R" + createdMicros;
	}

	/** Reads the wait queue, the processes with their scores; empty without a lock. */
	static List<String> queue(Jedis server, RedisLockKeys keys) {
		byte @Nullable [] value = server.get(keys.lock());
		return (value != null) ? queue(new String(value, StandardCharsets.UTF_8)) : List.of();
	}

	private static List<String> queue(String value) {
		int header = RedisLayout.RESERVED_HEADER_LENGTH;
		if (State.HELD.isOf(value)) {
			header = RedisLayout.HELD_HEADER_LENGTH;
			header += Integer.parseInt(value, header - RedisLayout.LABEL_SIZE_LENGTH, header, 10);
		}
		List<String> entries = new ArrayList<>();
		for (int entry = header; entry < value.length(); entry += ENTRY_LENGTH) {
			entries.add(value.substring(entry, entry + ENTRY_LENGTH));
		}
		return entries;
	}

}
