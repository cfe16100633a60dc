package io.distributedlock.sample.fencing;

import java.time.Duration;
import java.util.ArrayList;
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
 * can be lost in a fail-over before its replication.
 */
public class FencedValues {

	private static final RedisScript<Long> WRITE = RedisScript.of(new ClassPathResource("fenced-write.lua"),
			Long.class);

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
	public void write(String name, String value, FencingToken token) {
		write(name, token, value, null);
	}

	/**
	 * Writes a value that expires.
	 * @param name the name of the value, without braces
	 * @param value the value
	 * @param token the fencing token of the lock under which it is written
	 * @param expiry how long the value lasts
	 * @throws StaleWriteException if a later holder has written
	 */
	public void write(String name, String value, FencingToken token, Duration expiry) {
		write(name, token, value, Long.toString(expiry.toMillis()));
	}

	private void write(String name, FencingToken token, String value, @Nullable String expiry) {
		List<String> arguments = new ArrayList<>(
				List.of(token.toSortableText(), Long.toString(this.fenceRetention.toMillis()), value));
		if (expiry != null) {
			arguments.add(expiry);
		}
		Long written = this.redis.execute(WRITE, List.of(key(name), key(name) + ":fence"), arguments.toArray());
		if (written != 1) {
			throw new StaleWriteException(name, token);
		}
	}

	/**
	 * Reads a value.
	 * @param name the name of the value, without braces
	 * @return the value, or {@code null} if there is none
	 */
	public @Nullable String read(String name) {
		return this.redis.opsForValue().get(key(name));
	}

	/** Puts the name in braces, so that a cluster keeps value and fence in one slot. */
	private static String key(String name) {
		Assert.isTrue(!name.isEmpty() && name.indexOf('{') < 0 && name.indexOf('}') < 0,
				() -> "The name '" + name + "' is empty or has braces");
		return "{" + name + "}";
	}

}
