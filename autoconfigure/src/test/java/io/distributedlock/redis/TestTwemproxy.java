package io.distributedlock.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntUnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.protocol.ProtocolVersion;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.distributedlock.redis.script.RedisLayout;

/**
 * Two servers behind one Twemproxy, which tests share, and clients that greet it with no
 * command that it refuses.
 */
final class TestTwemproxy {

	private static final String SUITABLE = "hash_tag: \"{}\"\n  auto_eject_hosts: false";

	private static final Pattern RUN_ID = Pattern.compile("run_id:(\\S+)");

	private final List<RedisServer> servers = List.of(new RedisServer(), new RedisServer());

	private final TwemproxyServer proxy = new TwemproxyServer(this.servers, SUITABLE);

	private final List<String> runIds = this.servers.stream().map(TestTwemproxy::runId).toList();

	private final Map<String, Integer> owners = new ConcurrentHashMap<>();

	private TestTwemproxy() {
	}

	/** Returns the shared one, or skips the test where Twemproxy is not installed. */
	static TestTwemproxy shared() {
		TwemproxyServer.assumeInstalled();
		return Shared.TWEMPROXY;
	}

	List<RedisServer> servers() {
		return this.servers;
	}

	TwemproxyServer proxy() {
		return this.proxy;
	}

	RedisConfiguration configuration() {
		return new RedisStandaloneConfiguration("127.0.0.1", this.proxy.port());
	}

	/** Returns the number of the server that has a key. */
	int owner(byte[] key) {
		// Each test has a prefix of its own, and so other hash tags.
		String text = new String(key, StandardCharsets.UTF_8);
		return this.owners.computeIfAbsent(text.substring(0, text.indexOf('}')), (tag) -> {
			try (Jedis client = new Jedis(new HostAndPort("127.0.0.1", this.proxy.port()),
					DefaultJedisClientConfig.builder().clientSetInfoConfig(ClientSetInfoConfig.DISABLED).build())) {
				Object info = client.eval(RedisLayout.bytes("return redis.call('INFO', 'server')"), 1, key);
				return this.runIds.indexOf(runId(new String((byte[]) info)));
			}
		});
	}

	static String runId(RedisServer server) {
		try (Jedis admin = server.admin()) {
			return runId(admin.info("server"));
		}
	}

	private static String runId(String info) {
		Matcher matcher = RUN_ID.matcher(info);
		if (!matcher.find()) {
			throw new IllegalStateException(info);
		}
		return matcher.group(1);
	}

	/** A started factory, to be destroyed by the caller. */
	static LettuceConnectionFactory lettuce(RedisConfiguration proxy, IntUnaryOperator ports) {
		RedisStandaloneConfiguration server = (RedisStandaloneConfiguration) proxy;
		LettuceConnectionFactory factory = new LettuceConnectionFactory(server) {
			@Override
			protected AbstractRedisClient createClient() {
				RedisURI uri = RedisURI.create(server.getHostName(), ports.applyAsInt(server.getPort()));
				uri.setLibraryName("");
				uri.setLibraryVersion("");
				RedisClient client = RedisClient.create(TestClients.resources(), uri);
				client.setOptions(ClientOptions.builder()
					.protocolVersion(ProtocolVersion.RESP2)
					.maintNotificationsConfig(MaintNotificationsConfig.disabled())
					.timeoutOptions(TimeoutOptions.enabled())
					.socketOptions(SocketOptions.builder().connectTimeout(Duration.ofSeconds(2)).build())
					.build());
				return client;
			}
		};
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	/** A started factory, to be destroyed by the caller. */
	static JedisConnectionFactory jedis(RedisConfiguration proxy, IntUnaryOperator ports) {
		JedisConnectionFactory factory = new JedisConnectionFactory((RedisStandaloneConfiguration) proxy,
				JedisClientConfiguration.builder()
					.customizeClientConfig((config) -> config.clientSetInfoConfig(ClientSetInfoConfig.DISABLED)
						.hostAndPortMapper(
								(server) -> new HostAndPort(server.getHost(), ports.applyAsInt(server.getPort()))))
					.usePooling()
					.build());
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	private static final class Shared {

		private static final TestTwemproxy TWEMPROXY = new TestTwemproxy();

	}

}
