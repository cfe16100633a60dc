package io.distributedlock.redis;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.ByteArrayCodec;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.distributedlock.redis.ScriptClient.Answer;

/**
 * Runs scripts whose effect has to be on replicas before it counts. WAIT speaks of the
 * connection on which it is sent, and stops everything on it meanwhile: on the connection
 * that Lettuce shares it would hold up the whole application. So these scripts have a few
 * connections of their own, one at a time each.
 */
final class LettuceReplication implements AutoCloseable {

	private final LettuceConnectionFactory factory;

	private final Replicas replicas;

	private final DisconnectCounter disconnects;

	private final Queue<StatefulConnection<byte[], byte[]>> idle = new ConcurrentLinkedQueue<>();

	private volatile boolean closed;

	LettuceReplication(LettuceConnectionFactory factory, Replicas replicas, DisconnectCounter disconnects) {
		this.factory = factory;
		this.replicas = replicas;
		this.disconnects = disconnects;
	}

	/** Blocks the current thread, a worker. */
	Answer run(ScriptCall call, CallKind kind, long deadline) {
		StatefulConnection<byte[], byte[]> connection = borrow();
		boolean usable = false;
		try {
			Answer answer = run(connection, call, kind, deadline);
			usable = true;
			return answer;
		}
		catch (TimeoutException ex) {
			throw RedisErrors.timedOut(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw RedisErrors.interrupted(ex);
		}
		finally {
			if (usable && !this.closed && connection.isOpen()) {
				this.idle.add(connection);
			}
			else {
				connection.closeAsync();
			}
		}
	}

	private Answer run(StatefulConnection<byte[], byte[]> connection, ScriptCall call, CallKind kind, long deadline)
			throws InterruptedException, TimeoutException {
		RedisAsyncCommands<byte[], byte[]> node = node(connection, call.keys()[0], kind, deadline);
		long broken = this.disconnects.count();
		List<Object> values;
		try {
			values = LettuceScripts.await(
					node.evalsha(call.script().digest(), ScriptOutputType.MULTI, call.keys(), call.arguments()), kind,
					deadline);
		}
		catch (RuntimeException ex) {
			if (!RedisErrors.isUnknownScript(ex)) {
				throw ex;
			}
			values = LettuceScripts.await(
					node.eval(call.script().text(), ScriptOutputType.MULTI, call.keys(), call.arguments()), kind,
					deadline);
		}
		if (!call.hasProlonged(values)) {
			return new Answer(values, true);
		}
		long acknowledged = LettuceScripts
			.await(node.waitForReplication(this.replicas.atLeast(), this.replicas.millis(deadline)), kind, deadline);
		// After a reconnect it is another connection to the server, on which nothing was
		// written.
		return new Answer(values, acknowledged >= this.replicas.atLeast() && this.disconnects.count() == broken);
	}

	private RedisAsyncCommands<byte[], byte[]> node(StatefulConnection<byte[], byte[]> connection, byte[] key,
			CallKind kind, long deadline) throws InterruptedException, TimeoutException {
		if (connection instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster) {
			RedisClusterNode node = cluster.getPartitions().getMasterBySlot(SlotHash.getSlot(key));
			if (node == null) {
				throw RedisErrors.notConnected(new IllegalStateException("No node is known for the slot of the lock"));
			}
			CompletableFuture<StatefulRedisConnection<byte[], byte[]>> opened = cluster
				.getConnectionAsync(node.getNodeId());
			return LettuceScripts.await(opened, kind, deadline).async();
		}
		return ((StatefulRedisConnection<byte[], byte[]>) connection).async();
	}

	private StatefulConnection<byte[], byte[]> borrow() {
		StatefulConnection<byte[], byte[]> connection = this.idle.poll();
		while (connection != null && !connection.isOpen()) {
			connection.closeAsync();
			connection = this.idle.poll();
		}
		return (connection != null) ? connection : connect();
	}

	private StatefulConnection<byte[], byte[]> connect() {
		try {
			AbstractRedisClient client = this.factory.getRequiredNativeClient();
			if (client instanceof RedisClusterClient cluster) {
				return cluster.connect(ByteArrayCodec.INSTANCE);
			}
			StatefulRedisConnection<byte[], byte[]> connection = ((RedisClient) client)
				.connect(ByteArrayCodec.INSTANCE);
			if (this.factory.getDatabase() > 0) {
				connection.sync().select(this.factory.getDatabase());
			}
			return connection;
		}
		catch (RuntimeException ex) {
			throw RedisErrors.notConnected(ex);
		}
	}

	@Override
	public void close() {
		this.closed = true;
		for (StatefulConnection<byte[], byte[]> connection = this.idle
			.poll(); connection != null; connection = this.idle.poll()) {
			connection.closeAsync();
		}
	}

}
