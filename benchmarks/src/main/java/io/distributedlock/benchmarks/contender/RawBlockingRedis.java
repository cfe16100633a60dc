package io.distributedlock.benchmarks.contender;

import java.time.Duration;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import org.jspecify.annotations.Nullable;

import io.distributedlock.benchmarks.Endpoint;

/**
 * The least that waiting in Redis needs: a token that is taken by {@code BLPOP} and given
 * back by {@code LPUSH}. It has no expiry and no owner, so it is no lock.
 */
final class RawBlockingRedis implements Contender {

	private final RedisClient client;

	private final RedisCommands<String, String> commands;

	/** Connections for those who wait: each blocks its connection. */
	private final Queue<RedisCommands<String, String>> waiting = new ConcurrentLinkedQueue<>();

	private final Set<String> created = ConcurrentHashMap.newKeySet();

	RawBlockingRedis(Endpoint server) {
		RedisURI uri = RedisURI.create("redis://" + server.address());
		uri.setTimeout(Duration.ofMinutes(2));
		this.client = RedisClient.create(uri);
		this.commands = this.client.connect().sync();
	}

	@Override
	public @Nullable HeldLock acquire(String key, Duration wait) {
		if (this.created.add(key) && this.commands.set(key + ":created", "1", SetArgs.Builder.nx()) != null) {
			this.commands.lpush(key, "token");
		}
		RedisCommands<String, String> connection = this.waiting.poll();
		if (connection == null) {
			connection = this.client.connect().sync();
		}
		Object token = connection.blpop(Math.max(0.001, wait.toMillis() / 1000.0), key);
		this.waiting.add(connection);
		return (token != null) ? () -> this.commands.lpush(key, "token") : null;
	}

	@Override
	public void close() {
		this.client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
	}

}
