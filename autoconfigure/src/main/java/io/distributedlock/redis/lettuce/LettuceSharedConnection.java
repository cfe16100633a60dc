package io.distributedlock.redis.lettuce;

import io.lettuce.core.AbstractRedisAsyncCommands;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.distributedlock.redis.script.RedisErrors;

/**
 * The connection that the factory shares among all threads. Once it was opened it is
 * found without the factory, which holds a lock while it opens or validates one. A
 * connection that broke counts as open, because Lettuce opens it again by itself.
 */
final class LettuceSharedConnection {

	private final LettuceConnectionFactory factory;

	private volatile @Nullable Opened last;

	LettuceSharedConnection(LettuceConnectionFactory factory) {
		this.factory = factory;
	}

	/**
	 * Finds the connection without waiting.
	 * @param client the present client of the factory
	 * @return the connection, or {@code null} if it has to be opened
	 */
	@Nullable Opened find(AbstractRedisClient client) {
		Opened present = this.last;
		return (present != null && present.client() == client && present.isUsable()) ? present : null;
	}

	/**
	 * Lets the factory open the connection unless it has one. Blocks.
	 * @param client the present client of the factory
	 * @throws io.distributedlock.LockProviderException if the server cannot be reached
	 */
	@SuppressWarnings("unchecked")
	Opened open(AbstractRedisClient client) {
		// Closing Spring's wrapper leaves the shared connection open.
		try (RedisConnection connection = this.factory.getConnection()) {
			RedisClusterAsyncCommands<byte[], byte[]> commands = (RedisClusterAsyncCommands<byte[], byte[]>) connection
				.getNativeConnection();
			Opened opened = new Opened(client, commands, handler(commands));
			this.last = opened;
			return opened;
		}
		catch (RuntimeException ex) {
			throw RedisErrors.notConnected(ex);
		}
	}

	private static @Nullable RedisChannelHandler<?, ?> handler(RedisClusterAsyncCommands<byte[], byte[]> commands) {
		return (commands instanceof AbstractRedisAsyncCommands<?, ?> known
				&& known.getConnection() instanceof RedisChannelHandler<?, ?> handler) ? handler : null;
	}

	/**
	 * A connection that was opened.
	 *
	 * @param client the client that opened it
	 * @param commands its commands
	 * @param handler knows whether it was closed for good; {@code null} for a connection
	 * that the factory is asked for each time
	 */
	record Opened(AbstractRedisClient client, RedisClusterAsyncCommands<byte[], byte[]> commands,
			@Nullable RedisChannelHandler<?, ?> handler) {

		/**
		 * Whether the connection to a single server broke, so that Lettuce keeps
		 * commands, or rejects them, until it has opened it again. A cluster has
		 * connections of its own for the nodes.
		 */
		boolean isBroken() {
			return this.handler instanceof StatefulRedisConnection<?, ?> && !this.handler.isOpen() && isUsable();
		}

		private boolean isUsable() {
			return this.handler != null && !this.handler.isClosed()
					&& (this.handler.isOpen() || this.handler.getOptions().isAutoReconnect());
		}

	}

}
