package io.distributedlock.redis;

import java.time.Duration;
import java.util.function.Function;
import java.util.stream.Stream;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import org.junit.jupiter.params.provider.Arguments;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Connection factories as Boot makes them, started, to be destroyed by the caller. */
final class TestClients {

	private TestClients() {
	}

	/** Each client with its name, for parameterized tests. */
	static Stream<Arguments> all() {
		Function<RedisConfiguration, RedisConnectionFactory> lettuce = TestClients::lettuce;
		Function<RedisConfiguration, RedisConnectionFactory> jedis = TestClients::jedis;
		return Stream.of(Arguments.of("lettuce", lettuce), Arguments.of("jedis", jedis));
	}

	static LettuceConnectionFactory lettuce(RedisConfiguration servers) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(servers,
				LettuceClientConfiguration.builder()
					.clientResources(Netty.RESOURCES)
					.clientOptions(options((servers instanceof RedisClusterConfiguration)
							? ClusterClientOptions.builder() : ClientOptions.builder()))
					.shutdownTimeout(Duration.ZERO)
					.shutdownQuietPeriod(Duration.ZERO)
					.build());
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	private static ClientOptions options(ClientOptions.Builder options) {
		return options.timeoutOptions(TimeoutOptions.enabled())
			.socketOptions(SocketOptions.builder().connectTimeout(Duration.ofSeconds(2)).build())
			.build();
	}

	static JedisConnectionFactory jedis(RedisConfiguration servers) {
		JedisClientConfiguration client = JedisClientConfiguration.builder().usePooling().build();
		JedisConnectionFactory factory;
		if (servers instanceof RedisClusterConfiguration cluster) {
			factory = new JedisConnectionFactory(cluster, client);
		}
		else if (servers instanceof RedisSentinelConfiguration sentinels) {
			factory = new JedisConnectionFactory(sentinels, client);
		}
		else {
			factory = new JedisConnectionFactory((RedisStandaloneConfiguration) servers, client);
		}
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	/** Shared, because each has threads of its own. */
	private static final class Netty {

		private static final ClientResources RESOURCES = DefaultClientResources.create();

	}

}
