package io.distributedlock.redis;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

import io.distributedlock.provider.LockTimer;
import io.distributedlock.redis.jedis.JedisScriptClient;
import io.distributedlock.redis.lettuce.LettuceScriptExecutor;
import io.distributedlock.redis.lettuce.LettuceSubscribedConnection;
import io.distributedlock.redis.script.BlockingScriptClient;
import io.distributedlock.redis.script.BlockingScriptExecutor;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.ReplicaRequirement;
import io.distributedlock.redis.script.ScriptExecutor;
import io.distributedlock.redis.script.SpringSubscribedConnection;
import io.distributedlock.redis.script.SubscribedConnection;

/**
 * Creates the script executor for a connection factory. Lettuce and Jedis are optional,
 * so each is used by a nested class of its own.
 */
final class ScriptExecutorFactory {

	private static final boolean LETTUCE = isPresent("io.lettuce.core.AbstractRedisClient");

	private static final boolean JEDIS = isPresent("redis.clients.jedis.Jedis");

	private ScriptExecutorFactory() {
	}

	static ScriptExecutor create(RedisConnectionFactory factory, ReplicaRequirement replicas, LockTimer timer) {
		if (LETTUCE && Lettuce.isClientOf(factory)) {
			return Lettuce.executor(factory, replicas, timer);
		}
		if (JEDIS) {
			return new BlockingScriptExecutor(factory, Jedis.runner(replicas));
		}
		if (replicas.isPresent()) {
			throw RedisErrors.replicasNotSupported();
		}
		return new BlockingScriptExecutor(factory, (connection, calls, deadline, caller) -> BlockingScriptClient
			.runBySpring(connection, calls, caller, true, ReturnType.MULTI));
	}

	/**
	 * Returns the source of connections for subscriptions.
	 * @param executor the executor over the factory, which knows its client
	 */
	static Supplier<SubscribedConnection> subscriptions(RedisConnectionFactory factory, ScriptExecutor executor) {
		if (LETTUCE && Lettuce.isClientOf(factory)) {
			return Lettuce.subscriptions(factory, executor);
		}
		return () -> {
			RedisConnection connection = factory.getConnection();
			SubscribedConnection subscribed = JEDIS ? Jedis.subscribed(connection) : null;
			return (subscribed != null) ? subscribed : new SpringSubscribedConnection(connection);
		};
	}

	static boolean isCluster(RedisConnectionFactory factory) {
		return (LETTUCE && Lettuce.isCluster(factory)) || (JEDIS && Jedis.isCluster(factory));
	}

	private static boolean isPresent(String type) {
		return ClassUtils.isPresent(type, ScriptExecutorFactory.class.getClassLoader());
	}

	/** Loaded only where Lettuce is present. */
	private static final class Lettuce {

		static boolean isClientOf(RedisConnectionFactory factory) {
			return factory instanceof LettuceConnectionFactory;
		}

		static ScriptExecutor executor(RedisConnectionFactory factory, ReplicaRequirement replicas, LockTimer timer) {
			return new LettuceScriptExecutor((LettuceConnectionFactory) factory, replicas, timer);
		}

		static Supplier<SubscribedConnection> subscriptions(RedisConnectionFactory factory, ScriptExecutor executor) {
			return () -> LettuceSubscribedConnection
				.open(((LettuceConnectionFactory) factory).getRequiredNativeClient(), executor::client);
		}

		static boolean isCluster(RedisConnectionFactory factory) {
			return factory instanceof LettuceConnectionFactory lettuce && lettuce.isClusterAware();
		}

	}

	/** Loaded only where Jedis is present. */
	private static final class Jedis {

		static BlockingScriptClient runner(ReplicaRequirement replicas) {
			return new JedisScriptClient(replicas);
		}

		static @Nullable SubscribedConnection subscribed(RedisConnection connection) {
			return JedisScriptClient.subscribed(connection);
		}

		static boolean isCluster(RedisConnectionFactory factory) {
			return factory instanceof JedisConnectionFactory jedis && jedis.isRedisClusterAware();
		}

	}

}
