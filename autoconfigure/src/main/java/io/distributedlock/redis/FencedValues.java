package io.distributedlock.redis;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.util.Assert;

import io.distributedlock.FencingToken;

/**
 * Values in Redis that are written under a lock, each with a fence: the highest fencing
 * token that has written it. A holder that was paused past its lease has a lower token,
 * and its write is refused.
 * <p>
 * The fence has a key of its own, so that it does not expire and is not deleted with the
 * value: a late write would then pass as the first. It must not be evicted either, so the
 * server needs the {@code maxmemory-policy} {@code noeviction}. Like all data in Redis it
 * can be lost in a fail-over before its replication. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class FencedValues {

	private static final RedisScript<Long> WRITE = RedisScript
		.of(new ClassPathResource("fenced-write.lua", FencedValues.class), Long.class);

	private static final int REFUSED = 0;

	private final StringRedisTemplate redis;

	private final Duration fenceRetention;

	/**
	 * Creates the values.
	 * @param redis the connection to the server
	 * @param fenceRetention how long late writes are refused after a write, at least 1
	 * ms: longer than any process can be paused
	 */
	public FencedValues(StringRedisTemplate redis, Duration fenceRetention) {
		Assert.isTrue(fenceRetention.toMillis() > 0, "'fenceRetention' must be at least 1 ms");
		this.redis = redis;
		this.fenceRetention = fenceRetention;
	}

	/**
	 * Writes a value that does not expire.
	 * @param name the name of the value, without braces
	 * @param value the value
	 * @param token the fencing token of the lock under which it is written
	 * @throws StaleWriteException if a later holder has written
	 */
	public void set(String name, String value, FencingToken token) {
		write(name, value, token, null, "any", "");
	}

	/**
	 * Writes a value that expires.
	 * @param name the name of the value, without braces
	 * @param value the value
	 * @param token the fencing token of the lock under which it is written
	 * @param expiry how long the value lasts
	 * @throws StaleWriteException if a later holder has written
	 */
	public void set(String name, String value, FencingToken token, Duration expiry) {
		write(name, value, token, expiry, "any", "");
	}

	/**
	 * Writes a value if it is still the expected one. What was expected has to be read
	 * under the same lock.
	 * @param name the name of the value, without braces
	 * @param expected the value that it must have, or {@code null} for none
	 * @param value the value
	 * @param token the fencing token of the lock under which it is written
	 * @param expiry how long the value lasts, or {@code null} for ever
	 * @return whether it was the expected one, and was written
	 * @throws StaleWriteException if a later holder has written, whatever the value is
	 */
	public boolean compareAndSet(String name, @Nullable String expected, String value, FencingToken token,
			@Nullable Duration expiry) {
		return (expected != null) ? write(name, value, token, expiry, "is", expected)
				: write(name, value, token, expiry, "none", "");
	}

	private boolean write(String name, String value, FencingToken token, @Nullable Duration expiry, String condition,
			String expected) {
		Long written = this.redis.execute(WRITE, List.of(key(name), key(name) + ":fence"), token.toSortableText(),
				Long.toString(this.fenceRetention.toMillis()), value,
				(expiry != null) ? Long.toString(expiry.toMillis()) : "", condition, expected);
		if (written == REFUSED) {
			throw new StaleWriteException(name, token);
		}
		return written > 0;
	}

	/**
	 * Reads a value.
	 * @param name the name of the value, without braces
	 * @return the value, or {@code null} if there is none
	 */
	public @Nullable String get(String name) {
		return this.redis.opsForValue().get(key(name));
	}

	/** Puts the name in braces, so that a cluster keeps value and fence in one slot. */
	private static String key(String name) {
		Assert.isTrue(!name.isEmpty() && name.indexOf('{') < 0 && name.indexOf('}') < 0,
				() -> "The name '" + name + "' is empty or has braces");
		return "{" + name + "}";
	}

}
