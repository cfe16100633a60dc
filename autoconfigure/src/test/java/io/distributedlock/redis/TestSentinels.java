package io.distributedlock.redis;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisSentinelConfiguration;

import static org.awaitility.Awaitility.await;

/**
 * A primary with a replica, watched by three sentinels.
 */
final class TestSentinels implements AutoCloseable {

	private static final String NAME = "locks";

	private final RedisServer primary = new RedisServer("--repl-diskless-sync-delay", "0");

	private final RedisServer replica = new RedisServer("--replicaof", "127.0.0.1 " + this.primary.port(),
			"--repl-diskless-sync-delay", "0");

	private final List<RedisServer> sentinels;

	/**
	 * Starts a set.
	 * @param patience after which a silent primary is replaced
	 */
	TestSentinels(Duration patience) {
		this.sentinels = IntStream.range(0, 3)
			.mapToObj((number) -> RedisServer.sentinel(NAME, this.primary.port(), patience))
			.toList();
		for (RedisServer sentinel : this.sentinels) {
			try (Jedis admin = sentinel.admin()) {
				await().pollInterval(Duration.ofMillis(20)).atMost(TestCluster.START).until(() -> {
					String info = admin.info("sentinel");
					return info.contains("status=ok") && info.contains("slaves=1") && info.contains("sentinels=3");
				});
			}
		}
	}

	RedisServer primary() {
		return this.primary;
	}

	RedisServer replica() {
		return this.replica;
	}

	RedisSentinelConfiguration configuration() {
		RedisSentinelConfiguration configuration = new RedisSentinelConfiguration().master(NAME);
		this.sentinels.forEach((sentinel) -> configuration.sentinel("127.0.0.1", sentinel.port()));
		return configuration;
	}

	/** The set that contract tests share; it replaces a primary only after a minute. */
	static TestSentinels shared() {
		return Shared.SENTINELS;
	}

	@Override
	public void close() {
		this.sentinels.forEach(RedisServer::close);
		this.replica.close();
		this.primary.close();
	}

	private static final class Shared {

		private static final TestSentinels SENTINELS = new TestSentinels(Duration.ofMinutes(1));

	}

}
