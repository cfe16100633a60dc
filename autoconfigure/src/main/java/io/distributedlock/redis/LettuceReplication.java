package io.distributedlock.redis;

import java.util.List;
import java.util.concurrent.TimeoutException;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.async.BaseRedisAsyncCommands;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;

/**
 * Runs scripts whose writes replicas have to acknowledge. WAIT counts the writes of its
 * own connection, and blocks that connection meanwhile: on Lettuce's shared connection it
 * would block the whole application. So these scripts run on connections of the pool.
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

	/** Runs a script in the current thread, a worker. */
	ScriptReply run(ScriptCall call, CallKind kind, Deadline deadline, SendCheck check) {
		return this.connections.use((connection) -> run(connection, call, kind, deadline, check));
	}

	private ScriptReply run(StatefulConnection<byte[], byte[]> connection, ScriptCall call, CallKind kind,
			Deadline deadline, SendCheck check) throws InterruptedException, TimeoutException {
		RedisClusterAsyncCommands<byte[], byte[]> node = LettuceConnectionPool.node(connection, call.keys()[0], kind,
				deadline);
		long disconnectsBefore = this.disconnects.count();
		List<Object> values = LettuceCommands.run(node, call, kind, deadline, check);
		if (!call.hasGrantedOrRenewed(values)) {
			return new ScriptReply(values, true);
		}
		long acknowledged = LettuceCommands.await(((BaseRedisAsyncCommands<byte[], byte[]>) node)
			.waitForReplication(this.replicas.count(), this.replicas.timeoutMillis(deadline)), kind, deadline);
		// After a reconnect WAIT counts a new connection, on which nothing was written.
		return new ScriptReply(values,
				acknowledged >= this.replicas.count() && this.disconnects.count() == disconnectsBefore);
	}

}
