package io.distributedlock.redis;

import java.util.List;
import java.util.concurrent.TimeoutException;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.async.BaseRedisAsyncCommands;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;

import io.distributedlock.provider.CallKind;
import io.distributedlock.redis.ScriptClient.Answer;

/**
 * Runs scripts whose effect has to be on replicas before it counts. WAIT speaks of the
 * connection on which it is sent, and stops everything on it meanwhile: on the connection
 * that Lettuce shares it would hold up the whole application. So these scripts have
 * connections of their own.
 */
final class LettuceReplication {

	private final LettuceConnectionPool connections;

	private final ReplicaRequirement replicas;

	private final DisconnectCounter disconnects;

	LettuceReplication(LettuceConnectionPool connections, ReplicaRequirement replicas, DisconnectCounter disconnects) {
		this.connections = connections;
		this.replicas = replicas;
		this.disconnects = disconnects;
	}

	/** Blocks the current thread, a worker. */
	Answer run(ScriptCall call, CallKind kind, long deadline) {
		return this.connections.use((connection) -> run(connection, call, kind, deadline));
	}

	private Answer run(StatefulConnection<byte[], byte[]> connection, ScriptCall call, CallKind kind, long deadline)
			throws InterruptedException, TimeoutException {
		RedisClusterAsyncCommands<byte[], byte[]> node = LettuceConnectionPool.node(connection, call.keys()[0], kind,
				deadline);
		long broken = this.disconnects.count();
		List<Object> values = LettuceScriptClient.run(node, call, kind, deadline);
		if (!call.hasProlonged(values)) {
			return new Answer(values, true);
		}
		long acknowledged = LettuceScriptClient.await(((BaseRedisAsyncCommands<byte[], byte[]>) node)
			.waitForReplication(this.replicas.atLeast(), this.replicas.millis(deadline)), kind, deadline);
		// After a reconnect it is another connection to the server, on which nothing was
		// written.
		return new Answer(values, acknowledged >= this.replicas.atLeast() && this.disconnects.count() == broken);
	}

}
