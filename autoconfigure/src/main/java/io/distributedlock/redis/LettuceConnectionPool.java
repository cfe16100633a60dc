package io.distributedlock.redis;

import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.ByteArrayCodec;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;

/**
 * A pool of connections beside the one that Lettuce shares, each used by one worker at a
 * time; at most as many as there are workers. A connection on which a call had no reply
 * is closed, and so is one to a replica, and that of a client whose factory was stopped.
 */
final class LettuceConnectionPool implements AutoCloseable {

	private final LettuceConnectionFactory factory;

	private final Queue<Pooled> idle = new ConcurrentLinkedQueue<>();

	private volatile boolean closed;

	LettuceConnectionPool(LettuceConnectionFactory factory) {
		this.factory = factory;
	}

	/** Uses a connection in the current thread, a worker. */
	ScriptReply use(Action action) {
		Pooled pooled = borrow();
		boolean usable = false;
		try {
			ScriptReply reply = action.run(pooled.connection());
			usable = true;
			return reply;
		}
		catch (LockProviderException ex) {
			// A connection on which nothing was sent is as good as before.
			usable = !ex.isEffectUnknown();
			throw ex;
		}
		catch (RedisCommandExecutionException ex) {
			// The server has replied. A replica serves no locks.
			usable = !RedisErrors.isReadOnly(ex);
			throw ex;
		}
		catch (TimeoutException ex) {
			throw RedisErrors.timedOut(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw RedisErrors.interrupted(ex);
		}
		finally {
			if (usable && !this.closed && pooled.connection().isOpen()) {
				this.idle.add(pooled);
				if (this.closed) {
					closeIdle();
				}
			}
			else {
				pooled.close();
			}
		}
	}

	private Pooled borrow() {
		AbstractRedisClient client = client();
		for (Pooled pooled = this.idle.poll(); pooled != null; pooled = this.idle.poll()) {
			if (pooled.client() == client && pooled.connection().isOpen()) {
				return pooled;
			}
			pooled.close();
		}
		return new Pooled(client, connect(client));
	}

	private AbstractRedisClient client() {
		try {
			return this.factory.getRequiredNativeClient();
		}
		catch (IllegalStateException ex) {
			throw RedisErrors.notConnected(ex);
		}
	}

	private StatefulConnection<byte[], byte[]> connect(AbstractRedisClient client) {
		try {
			if (client instanceof RedisClusterClient cluster) {
				return cluster.connect(ByteArrayCodec.INSTANCE);
			}
			StatefulRedisConnection<byte[], byte[]> connection = ((RedisClient) client)
				.connect(ByteArrayCodec.INSTANCE);
			if (this.factory.getDatabase() > 0) {
				select(connection);
			}
			return connection;
		}
		catch (RuntimeException ex) {
			throw RedisErrors.notConnected(ex);
		}
	}

	private void select(StatefulRedisConnection<byte[], byte[]> connection) {
		try {
			connection.sync().select(this.factory.getDatabase());
		}
		catch (RuntimeException ex) {
			connection.closeAsync();
			throw ex;
		}
	}

	/** The commands of a connection; in a cluster each goes to the node of its key. */
	static RedisClusterAsyncCommands<byte[], byte[]> commands(StatefulConnection<byte[], byte[]> connection) {
		return (connection instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster) ? cluster.async()
				: ((StatefulRedisConnection<byte[], byte[]>) connection).async();
	}

	/** The commands to the node of one key, all on the same connection to it. */
	static RedisClusterAsyncCommands<byte[], byte[]> node(StatefulConnection<byte[], byte[]> connection, byte[] key,
			CallKind kind, Deadline deadline) throws InterruptedException, TimeoutException {
		if (!(connection instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster)) {
			return commands(connection);
		}
		RedisClusterNode node = cluster.getPartitions().getMasterBySlot(SlotHash.getSlot(key));
		if (node == null) {
			throw RedisErrors
				.notConnected(new IllegalStateException("No node of the cluster is known for the slot of the lock"));
		}
		CompletableFuture<StatefulRedisConnection<byte[], byte[]>> opened = cluster
			.getConnectionAsync(node.getNodeId());
		return LettuceCommands.await(opened, kind, deadline).async();
	}

	/** Closes the connections that are not in use; later calls open new ones. */
	void closeIdle() {
		for (Pooled pooled = this.idle.poll(); pooled != null; pooled = this.idle.poll()) {
			pooled.close();
		}
	}

	@Override
	public void close() {
		this.closed = true;
		closeIdle();
	}

	/** The use of a connection. */
	@FunctionalInterface
	interface Action {

		ScriptReply run(StatefulConnection<byte[], byte[]> connection) throws InterruptedException, TimeoutException;

	}

	/**
	 * A connection of the pool.
	 *
	 * @param client the client that opened it, and closes it when its factory is stopped
	 * @param connection the connection
	 */
	private record Pooled(AbstractRedisClient client, StatefulConnection<byte[], byte[]> connection) {

		void close() {
			// Lettuce warns of a connection that is closed twice.
			if (!(this.connection instanceof RedisChannelHandler<?, ?> handler) || !handler.isClosed()) {
				this.connection.closeAsync();
			}
		}

	}

}
