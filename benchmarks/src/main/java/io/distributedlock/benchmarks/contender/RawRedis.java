package io.distributedlock.benchmarks.contender;

import java.time.Duration;
import java.util.Arrays;
import java.util.UUID;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import org.jspecify.annotations.Nullable;

import io.distributedlock.benchmarks.Endpoint;
import io.distributedlock.benchmarks.Store;

/**
 * The least that a lock in Redis needs: {@code SET NX PX}, and a script that deletes the
 * key if the value is still ours. One connection for all threads.
 */
final class RawRedis implements Contender {

	static final String RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then"
			+ " return redis.call('DEL', KEYS[1]) else return 0 end";

	private final AbstractRedisClient client;

	private final RedisClusterCommands<String, String> commands;

	private final String release;

	RawRedis(Endpoint server) {
		if (server.store() == Store.REDIS_CLUSTER) {
			RedisClusterClient cluster = RedisClusterClient.create(Arrays.stream(server.address().split(","))
				.map((node) -> RedisURI.create("redis://" + node))
				.toList());
			this.client = cluster;
			this.commands = cluster.connect().sync();
		}
		else {
			RedisClient single = RedisClient.create("redis://" + server.address());
			this.client = single;
			this.commands = single.connect().sync();
		}
		this.release = this.commands.scriptLoad(RELEASE);
	}

	@Override
	public @Nullable HeldLock acquire(String key, Duration wait) {
		String owner = UUID.randomUUID().toString();
		if (this.commands.set(key, owner, SetArgs.Builder.nx().px(30_000)) == null) {
			return null;
		}
		return () -> this.commands.evalsha(this.release, ScriptOutputType.INTEGER, new String[] { key }, owner);
	}

	@Override
	public void close() {
		this.client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
	}

}
