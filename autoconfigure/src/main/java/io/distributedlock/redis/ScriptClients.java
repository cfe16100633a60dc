package io.distributedlock.redis;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

/** Finds out which client a connection factory uses, any of which may be missing. */
final class ScriptClients {

	private static final boolean LETTUCE = isPresent("io.lettuce.core.AbstractRedisClient");

	private static final boolean JEDIS = isPresent("redis.clients.jedis.Jedis");

	private ScriptClients() {
	}

	static ScriptClient create(RedisConnectionFactory factory) {
		if (LETTUCE && Lettuce.isShared(factory)) {
			return Lettuce.client(factory);
		}
		return new WorkerScripts(factory);
	}

	static boolean isCluster(RedisConnectionFactory factory) {
		return (LETTUCE && Lettuce.isCluster(factory)) || (JEDIS && Jedis.isCluster(factory));
	}

	private static boolean isPresent(String type) {
		return ClassUtils.isPresent(type, ScriptClients.class.getClassLoader());
	}

	/** Apart, so that Lettuce may be missing. */
	private static final class Lettuce {

		static boolean isShared(RedisConnectionFactory factory) {
			return factory instanceof LettuceConnectionFactory lettuce && lettuce.getShareNativeConnection();
		}

		static ScriptClient client(RedisConnectionFactory factory) {
			return new LettuceScripts((LettuceConnectionFactory) factory);
		}

		static boolean isCluster(RedisConnectionFactory factory) {
			return factory instanceof LettuceConnectionFactory lettuce && lettuce.isClusterAware();
		}

	}

	/** Apart, so that Jedis may be missing. */
	private static final class Jedis {

		static boolean isCluster(RedisConnectionFactory factory) {
			return factory instanceof JedisConnectionFactory jedis && jedis.isRedisClusterAware();
		}

	}

}
