package io.distributedlock.redis;

import java.util.concurrent.TimeoutException;

import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;

/**
 * Runs scripts on other connections of Lettuce than the shared one, in workers, which
 * wait for the replies: scripts that replicas have to acknowledge, all scripts of a
 * factory that shares no connection, and those to a node that does not reply on it.
 */
final class LettuceWorkerCalls implements AutoCloseable {

	private final LettuceConnectionFactory factory;

	private final boolean shared;

	private final LettuceConnectionPool connections;

	private final @Nullable LettuceReplication replication;

	LettuceWorkerCalls(LettuceConnectionFactory factory, ReplicaRequirement replicas, DisconnectCounter disconnects) {
		this.factory = factory;
		this.shared = factory.getShareNativeConnection();
		this.connections = new LettuceConnectionPool(factory);
		this.replication = replicas.isPresent() ? new LettuceReplication(this.connections, replicas, disconnects)
				: null;
	}

	/** Whether a call cannot run on the shared connection. */
	boolean isNeededFor(ScriptCall call) {
		return !this.shared || (this.replication != null && call.needsReplicas());
	}

	/**
	 * Runs a script in the current thread, a worker.
	 * @param check asked before each command, once its connection is there
	 */
	ScriptReply run(ScriptCall call, CallKind kind, Deadline deadline, SendCheck check) {
		if (this.replication != null && call.needsReplicas()) {
			return this.replication.run(call, kind, deadline, check);
		}
		return this.shared ? runOnPool(call, kind, deadline, check) : runUnshared(call, kind, deadline, check);
	}

	private ScriptReply runOnPool(ScriptCall call, CallKind kind, Deadline deadline, SendCheck check) {
		return this.connections.use((connection) -> new ScriptReply(
				LettuceCommands.run(LettuceConnectionPool.commands(connection), call, kind, deadline, check), true));
	}

	private ScriptReply runUnshared(ScriptCall call, CallKind kind, Deadline deadline, SendCheck check) {
		try (RedisConnection connection = connect()) {
			return new ScriptReply(LettuceCommands.run(commands(connection), call, kind, deadline, check), true);
		}
		catch (TimeoutException ex) {
			throw RedisErrors.timedOut(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw RedisErrors.interrupted(ex);
		}
	}

	private RedisConnection connect() {
		try {
			return this.factory.getConnection();
		}
		catch (RuntimeException ex) {
			throw RedisErrors.notConnected(ex);
		}
	}

	/** Returns the commands of a connection, which is opened for them. */
	@SuppressWarnings("unchecked")
	private static RedisClusterAsyncCommands<byte[], byte[]> commands(RedisConnection connection) {
		try {
			return (RedisClusterAsyncCommands<byte[], byte[]>) connection.getNativeConnection();
		}
		catch (RuntimeException ex) {
			throw RedisErrors.notConnected(ex);
		}
	}

	/** Runs when the shared connection replies again. */
	void closeIdle() {
		if (this.replication == null) {
			this.connections.closeIdle();
		}
	}

	@Override
	public void close() {
		this.connections.close();
	}

}
