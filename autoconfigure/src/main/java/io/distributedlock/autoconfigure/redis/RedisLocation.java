package io.distributedlock.autoconfigure.redis;

import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.NamedNode;
import org.springframework.data.redis.connection.RedisConfiguration.ClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration.SentinelConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSocketConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * The server, cluster or sentinels of a connection factory, for people to read. Lettuce's
 * static replicas are not known: their factory reports the local host.
 */
final class RedisLocation {

	private static final boolean LETTUCE = isPresent("io.lettuce.core.RedisClient");

	private static final boolean JEDIS = isPresent("redis.clients.jedis.Jedis");

	private RedisLocation() {
	}

	private static boolean isPresent(String client) {
		return ClassUtils.isPresent(client, RedisLocation.class.getClassLoader());
	}

	static String of(@Nullable RedisConnectionFactory factory) {
		String location = LETTUCE ? Lettuce.of(factory) : null;
		if (location == null && JEDIS) {
			location = Jedis.of(factory);
		}
		return (location != null) ? location : "the server of the application's RedisConnectionFactory";
	}

	private static String of(@Nullable ClusterConfiguration cluster, @Nullable SentinelConfiguration sentinels,
			String server) {
		if (cluster != null) {
			return "cluster " + nodes(cluster.getClusterNodes());
		}
		if (sentinels != null) {
			NamedNode master = sentinels.getMaster();
			return ((master != null) ? "master '" + master.getName() + "' of the sentinels " : "sentinels ")
					+ nodes(sentinels.getSentinels());
		}
		return "server " + server;
	}

	private static String nodes(Set<RedisNode> nodes) {
		return nodes.stream().map((node) -> node.getHost() + ":" + node.getPort()).collect(Collectors.joining(","));
	}

	/** Use of Lettuce's types, in a class of its own because Lettuce may be missing. */
	private static final class Lettuce {

		static @Nullable String of(@Nullable RedisConnectionFactory given) {
			if (!(given instanceof LettuceConnectionFactory factory)) {
				return null;
			}
			RedisSocketConfiguration socket = factory.getSocketConfiguration();
			return RedisLocation.of(factory.getClusterConfiguration(), factory.getSentinelConfiguration(),
					(socket != null) ? socket.getSocket() : factory.getHostName() + ":" + factory.getPort());
		}

	}

	/** Use of Jedis' types, in a class of its own because Jedis may be missing. */
	private static final class Jedis {

		static @Nullable String of(@Nullable RedisConnectionFactory given) {
			if (!(given instanceof JedisConnectionFactory factory)) {
				return null;
			}
			return RedisLocation.of(factory.getClusterConfiguration(), factory.getSentinelConfiguration(),
					factory.getHostName() + ":" + factory.getPort());
		}

	}

}
