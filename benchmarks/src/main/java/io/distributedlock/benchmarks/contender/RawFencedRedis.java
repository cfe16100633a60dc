package io.distributedlock.benchmarks.contender;

import java.time.Duration;
import java.util.UUID;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import org.jspecify.annotations.Nullable;

import io.distributedlock.benchmarks.Endpoint;

/**
 * The least that a lock with a fencing token needs in Redis: a script that sets the key
 * and numbers the grants by the server's clock, and the script that deletes the key if
 * the value is still ours.
 */
final class RawFencedRedis implements Contender {

	private static final String ACQUIRE = """
			if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', 30000) then
				return 0
			end
			local time = redis.call('TIME')
			local order = time[1] * 1000000 + time[2]
			if redis.call('ZADD', KEYS[2], 'GT', 'CH', string.format('%.0f', order), 'order') == 0 then
				order = tonumber(redis.call('ZINCRBY', KEYS[2], 1, 'order'))
			end
			return order
			""";

	private final RedisClient client;

	private final RedisCommands<String, String> commands;

	private final String acquire;

	private final String release;

	RawFencedRedis(Endpoint server) {
		this.client = RedisClient.create("redis://" + server.address());
		this.commands = this.client.connect().sync();
		this.acquire = this.commands.scriptLoad(ACQUIRE);
		this.release = this.commands.scriptLoad(RawRedis.RELEASE);
	}

	@Override
	public @Nullable HeldLock acquire(String key, Duration wait) {
		String owner = UUID.randomUUID().toString();
		Long order = this.commands.evalsha(this.acquire, ScriptOutputType.INTEGER, new String[] { key, "order" },
				owner);
		if (order == 0) {
			return null;
		}
		return () -> this.commands.evalsha(this.release, ScriptOutputType.INTEGER, new String[] { key }, owner);
	}

	@Override
	public void close() {
		this.client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
	}

}
