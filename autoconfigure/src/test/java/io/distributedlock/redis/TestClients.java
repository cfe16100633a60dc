package io.distributedlock.redis;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.models.partitions.Partitions;
import io.lettuce.core.internal.HostAndPort;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.MappingSocketAddressResolver;
import io.netty.util.concurrent.DefaultThreadFactory;
import org.junit.jupiter.params.provider.Arguments;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettucePoolingClientConfiguration;

import static org.awaitility.Awaitility.await;

/** Started connection factories as Boot creates them, to be destroyed by the caller. */
public final class TestClients {

	/** The ports that the servers announce. */
	static final IntUnaryOperator SAME_PORTS = (port) -> port;

	private TestClients() {
	}

	/** Each client with its name, for parameterized tests. */
	static Stream<Arguments> all() {
		Function<RedisConfiguration, RedisConnectionFactory> lettuce = TestClients::lettuce;
		Function<RedisConfiguration, RedisConnectionFactory> jedis = TestClients::jedis;
		return Stream.of(Arguments.of("lettuce", lettuce), Arguments.of("jedis", jedis));
	}

	/** The threads of all clients of Lettuce. */
	public static ClientResources resources() {
		return Netty.RESOURCES;
	}

	public static LettuceConnectionFactory lettuce(RedisConfiguration servers) {
		return lettuce(servers, SAME_PORTS);
	}

	/** Connects to other ports than the servers announce. */
	public static LettuceConnectionFactory lettuce(RedisConfiguration servers, IntUnaryOperator ports) {
		return lettuce(servers, resources(ports), LettuceClientConfiguration.builder(), true);
	}

	private static ClientResources resources(IntUnaryOperator ports) {
		if (ports == SAME_PORTS) {
			return Netty.RESOURCES;
		}
		Function<HostAndPort, HostAndPort> way = (server) -> HostAndPort.of(server.getHostText(),
				ports.applyAsInt(server.getPort()));
		return Netty.RESOURCES.mutate().socketAddressResolver(MappingSocketAddressResolver.create(way)).build();
	}

	/** Shares no connection, but lends those of a pool. */
	static LettuceConnectionFactory pooledLettuce(RedisConfiguration servers, IntUnaryOperator ports) {
		return lettuce(servers, resources(ports), LettucePoolingClientConfiguration.builder(), false);
	}

	/** Shares no connection, and opens one for each call. */
	static LettuceConnectionFactory unsharedLettuce(RedisConfiguration servers) {
		return lettuce(servers, Netty.RESOURCES, LettuceClientConfiguration.builder(), false);
	}

	private static LettuceConnectionFactory lettuce(RedisConfiguration servers, ClientResources resources,
			LettuceClientConfiguration.LettuceClientConfigurationBuilder client, boolean shared) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(servers,
				client.clientResources(resources)
					.clientOptions(options((servers instanceof RedisClusterConfiguration)
							? ClusterClientOptions.builder() : ClientOptions.builder()))
					.shutdownTimeout(Duration.ZERO)
					.shutdownQuietPeriod(Duration.ZERO)
					.build());
		factory.setShareNativeConnection(shared);
		factory.afterPropertiesSet();
		factory.start();
		if (factory.getRequiredNativeClient() instanceof RedisClusterClient cluster) {
			awaitView(cluster);
		}
		return factory;
	}

	/** Waits until a client knows the owner of each slot. */
	private static void awaitView(RedisClusterClient cluster) {
		await().atMost(TestCluster.START).until(() -> {
			cluster.refreshPartitions();
			Partitions view = cluster.getPartitions();
			return IntStream.range(0, TestCluster.SLOTS).allMatch((slot) -> view.getPartitionBySlot(slot) != null);
		});
	}

	private static ClientOptions options(ClientOptions.Builder options) {
		return options.timeoutOptions(TimeoutOptions.enabled())
			.socketOptions(SocketOptions.builder().connectTimeout(Duration.ofSeconds(2)).build())
			.build();
	}

	static JedisConnectionFactory jedis(RedisConfiguration servers) {
		return jedis(servers, SAME_PORTS);
	}

	/** Connects to other ports than the servers announce. */
	static JedisConnectionFactory jedis(RedisConfiguration servers, IntUnaryOperator ports) {
		JedisClientConfiguration client = JedisClientConfiguration.builder()
			.customizeClientConfig((config) -> config
				.hostAndPortMapper((server) -> new redis.clients.jedis.HostAndPort(server.getHost(),
						ports.applyAsInt(server.getPort()))))
			.usePooling()
			.build();
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

	/** Hides a factory behind another one, as tracing does. */
	public static RedisConnectionFactory wrapped(RedisConnectionFactory factory) {
		return (RedisConnectionFactory) Proxy.newProxyInstance(TestClients.class.getClassLoader(),
				new Class<?>[] { RedisConnectionFactory.class, DisposableBean.class },
				(proxy, method, arguments) -> method.invoke(factory, arguments));
	}

	/** A client of servers that may have other ports than they announce. */
	interface Client {

		RedisConnectionFactory connect(RedisConfiguration servers, IntUnaryOperator ports);

	}

	/** Shared, since each instance has threads of its own. */
	private static final class Netty {

		private static final ClientResources RESOURCES = DefaultClientResources.builder()
			.threadFactoryProvider((pool) -> new DefaultThreadFactory("shared-" + pool, true))
			.build();

	}

}
