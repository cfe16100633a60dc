package io.distributedlock.redis;

import java.time.Duration;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The one standalone server of the tests, and connection factories as Boot makes them.
 */
public final class TestRedis {

	private TestRedis() {
	}

	static RedisServer server() {
		return Standalone.SERVER;
	}

	/** The port of the server. */
	public static int port() {
		return server().port();
	}

	/** A client that sees what no provider shows. */
	public static Jedis admin() {
		return new Jedis("127.0.0.1", port(), 10_000);
	}

	/** A started factory, to be destroyed by the caller. */
	public static LettuceConnectionFactory lettuce(int port) {
		ClientOptions options = ClientOptions.builder()
			.timeoutOptions(TimeoutOptions.enabled())
			.socketOptions(SocketOptions.builder().connectTimeout(Duration.ofSeconds(2)).build())
			.build();
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", port),
				LettuceClientConfiguration.builder()
					.clientResources(Netty.RESOURCES)
					.clientOptions(options)
					.shutdownTimeout(Duration.ZERO)
					.shutdownQuietPeriod(Duration.ZERO)
					.build());
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	/** A started factory, to be destroyed by the caller. */
	public static JedisConnectionFactory jedis(int port) {
		JedisConnectionFactory factory = new JedisConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", port),
				JedisClientConfiguration.builder().usePooling().build());
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	private static final class Standalone {

		private static final RedisServer SERVER = new RedisServer("--enable-debug-command", "yes");

	}

	/** Shared, because each has threads of its own. */
	private static final class Netty {

		private static final ClientResources RESOURCES = DefaultClientResources.create();

	}

}
