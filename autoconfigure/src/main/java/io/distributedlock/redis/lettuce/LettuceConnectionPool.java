package io.distributedlock.redis.lettuce;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

import io.lettuce.core.AbstractRedisAsyncCommands;
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
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettucePoolingClientConfiguration;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.ScriptOutcome;

/**
 * A pool of connections beside the one that Lettuce shares, each used by one worker at a
 * time; at most as many as there are workers. A connection on which a call had no reply
 * is closed, and so is that of a client whose factory was stopped. One to a replica is
 * closed when it is a second old, since another one may lead to the present master.
 * <p>
 * A connection to a cluster leads to all nodes, but is used again for the same one only:
 * while other nodes do not reply, a new connection may take as long as their time-out.
 */
final class LettuceConnectionPool implements AutoCloseable {

	/** The least age at which a connection to a replica is closed. */
	private static final Duration REPLICA_AGE = Duration.ofSeconds(1);

	/** Enough for the usual calls at a time; more are closed after their use. */
	private static final int MOST_IDLE = 32;

	private final LettuceConnectionFactory factory;

	private final boolean replicated;

	private final BooleanSupplier needed;

	private final Queue<Pooled> idle = new ConcurrentLinkedQueue<>();

	private volatile boolean closed;

	/**
	 * Creates a pool without connections.
	 * @param replicated whether WAIT is sent on the connections
	 * @param needed whether connections are used again soon; they are closed otherwise
	 */
	LettuceConnectionPool(LettuceConnectionFactory factory, boolean replicated, BooleanSupplier needed) {
		this.factory = factory;
		this.replicated = replicated;
		this.needed = needed;
	}

	/**
	 * Uses a connection in the current thread, a worker.
	 * @param node the node that is called, or {@code null} if it is not known or the only
	 * one
	 */
	List<ScriptOutcome> use(@Nullable Object node, Action action) {
		Pooled pooled = borrow(node);
		boolean usable = false;
		try {
			List<ScriptOutcome> outcomes = action.run(pooled.connection());
			usable = outcomes.stream().map(ScriptOutcome::failure).allMatch(pooled::isUsableAfter);
			return outcomes;
		}
		catch (LockProviderException ex) {
			usable = pooled.isUsableAfter(ex);
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
			if (usable && !pooled.lent() && !this.closed && pooled.connection().isOpen()) {
				giveBack(pooled.calling(node));
			}
			else {
				pooled.close();
			}
		}
	}

	@SuppressWarnings("ModifyCollectionInEnhancedForLoop") // a concurrent queue allows it
	private Pooled borrow(@Nullable Object node) {
		AbstractRedisClient client = client();
		for (Pooled pooled : this.idle) {
			if (pooled.isFor(node) && this.idle.remove(pooled)) {
				if (pooled.client() == client && pooled.connection().isOpen()) {
					return pooled;
				}
				pooled.close();
			}
		}
		return connect(client, node);
	}

	private void giveBack(Pooled pooled) {
		this.idle.add(pooled);
		if (this.idle.size() > MOST_IDLE) {
			Pooled oldest = this.idle.poll();
			if (oldest != null) {
				oldest.close();
			}
		}
		// The need may have ended while the connection was in use.
		if (this.closed || !this.needed.getAsBoolean()) {
			closeIdle();
		}
	}

	private AbstractRedisClient client() {
		try {
			return this.factory.getRequiredNativeClient();
		}
		catch (IllegalStateException ex) {
			throw RedisErrors.notConnected(ex);
		}
	}

	private Pooled connect(AbstractRedisClient client, @Nullable Object node) {
		try {
			StatefulConnection<byte[], byte[]> connection = connectByClient(client);
			return new Pooled(client, node, connection, () -> closeUnlessClosed(connection),
					Deadline.after(REPLICA_AGE), false);
		}
		catch (RuntimeException ex) {
			if (!LettuceClient.isWithoutServer(ex)) {
				throw RedisErrors.notConnected(ex);
			}
		}
		if (this.replicated) {
			throw RedisErrors.replicasNotSupportedByStaticNodes();
		}
		return connectByFactory(client, node);
	}

	private StatefulConnection<byte[], byte[]> connectByClient(AbstractRedisClient client) {
		if (client instanceof RedisClusterClient cluster) {
			return cluster.connect(ByteArrayCodec.INSTANCE);
		}
		StatefulRedisConnection<byte[], byte[]> connection = ((RedisClient) client).connect(ByteArrayCodec.INSTANCE);
		if (this.factory.getDatabase() > 0) {
			select(connection);
		}
		return connection;
	}

	/** Only the factory knows the nodes of a static master/replica configuration. */
	@SuppressWarnings("unchecked")
	private Pooled connectByFactory(AbstractRedisClient client, @Nullable Object node) {
		RedisConnection lent;
		try {
			lent = this.factory.getConnection();
		}
		catch (RuntimeException ex) {
			throw RedisErrors.notConnected(ex);
		}
		try {
			// A pipeline has a connection of its own, also where the factory shares one.
			lent.openPipeline();
			StatefulConnection<byte[], byte[]> connection = ((AbstractRedisAsyncCommands<byte[], byte[]>) lent
				.getNativeConnection()).getConnection();
			// A policy of the application may collect the commands of a pipeline.
			connection.setAutoFlushCommands(true);
			return new Pooled(client, node, connection, lent::close, Deadline.after(REPLICA_AGE),
					this.factory.getClientConfiguration() instanceof LettucePoolingClientConfiguration);
		}
		catch (RuntimeException ex) {
			lent.close();
			throw RedisErrors.notConnected(ex);
		}
	}

	private static void closeUnlessClosed(StatefulConnection<byte[], byte[]> connection) {
		// Lettuce warns of a connection that is closed twice.
		if (!(connection instanceof RedisChannelHandler<?, ?> handler) || !handler.isClosed()) {
			connection.closeAsync();
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

		List<ScriptOutcome> run(StatefulConnection<byte[], byte[]> connection)
				throws InterruptedException, TimeoutException;

	}

	/**
	 * A connection of the pool.
	 *
	 * @param client the client that opened it, and closes it when its factory is stopped
	 * @param node the node that it called last, if known
	 * @param connection the connection
	 * @param closing closes it
	 * @param young until when it is kept even if the server is a replica
	 * @param lent whether a pool of the application has lent it for one use
	 */
	private record Pooled(AbstractRedisClient client, @Nullable Object node,
			StatefulConnection<byte[], byte[]> connection, Runnable closing, Deadline young, boolean lent) {

		private boolean isFor(@Nullable Object called) {
			return this.node == null || this.node.equals(called);
		}

		private Pooled calling(@Nullable Object called) {
			return new Pooled(this.client, called, this.connection, this.closing, this.young, this.lent);
		}

		private boolean isUsableAfter(@Nullable RuntimeException failure) {
			if (failure instanceof LockProviderException ex) {
				// A connection on which nothing was sent is as good as before.
				return !ex.isEffectUnknown();
			}
			// The server has replied.
			return failure == null || (failure instanceof RedisCommandExecutionException
					&& (!RedisErrors.isReadOnly(failure) || !this.young.isPast()));
		}

		void close() {
			this.closing.run();
		}

	}

}
