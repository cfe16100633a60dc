package io.distributedlock.redis;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisCluster;
import redis.clients.jedis.JedisPooled;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.util.JedisClusterCRC16;

import org.springframework.data.redis.connection.RedisConnection;

import io.distributedlock.provider.Deadline;

/**
 * Runs scripts with any of the clients of Jedis, where possible on one connection: its
 * read time-out is then that of the call, and WAIT follows on the same connection.
 * <p>
 * In a cluster it calls the node of the slot itself, since Jedis would send a command
 * again whose reply was lost, without telling. Only a call that the node has surely not
 * run is left to Jedis, which follows redirections and refreshes its view of the nodes.
 */
final class JedisScriptRunner implements ScriptRunner {

	/** The group of calls to all nodes that are not known. */
	private static final String UNKNOWN = "unknown";

	private static final int SLOTS = 16_384;

	private final ReplicaRequirement replicas;

	/**
	 * The nodes of a cluster by slot, as the last call found them; at most one slot per
	 * bucket. A node is the text of a connection to it, which names its address. Jedis
	 * knows them too, but shows them only by a connection.
	 */
	private final Map<Integer, String> nodes = new ConcurrentHashMap<>();

	JedisScriptRunner(ReplicaRequirement replicas) {
		this.replicas = replicas;
	}

	@Override
	public int slot(byte[] key) {
		return JedisClusterCRC16.getSlot(key);
	}

	@Override
	public @Nullable Object node(int slot) {
		return this.nodes.get(slot);
	}

	@Override
	public @Nullable Object workerGroup(int slot) {
		// A single server is none of the nodes.
		return this.nodes.isEmpty() ? null : this.nodes.getOrDefault(slot, UNKNOWN);
	}

	@Override
	public ScriptReply run(RedisConnection connection, ScriptCall call, Deadline deadline, SendCheck check) {
		Object client = connection.getNativeConnection();
		if (client instanceof JedisCluster cluster) {
			return runInCluster(connection, cluster::getConnectionFromSlot, call, deadline, check);
		}
		if (client instanceof RedisClusterClient cluster) {
			return runInCluster(connection, cluster::getConnectionFromSlot, call, deadline, check);
		}
		if (client instanceof Jedis jedis) {
			return run(jedis, call, deadline, check);
		}
		Connection pooled = pooled(client);
		if (pooled != null) {
			try (Jedis jedis = new Jedis(pooled)) {
				return run(jedis, call, deadline, check);
			}
		}
		if (!this.replicas.isPresent() || !call.needsReplicas()) {
			return new ScriptReply(ScriptRunner.runBySpring(connection, call, check), true);
		}
		if (client instanceof UnifiedJedis unified) {
			return runPipelined(unified, call, deadline, check);
		}
		throw RedisErrors.replicasNotSupported();
	}

	/**
	 * Returns a connection for a subscription.
	 * @param connection the connection of Spring that leads to it
	 * @return the connection, or {@code null} if it is not one of Jedis
	 */
	static @Nullable SubscribedConnection subscribed(RedisConnection connection) {
		try {
			Object client = connection.getNativeConnection();
			if (client instanceof Jedis jedis) {
				return new JedisSubscribedConnection(jedis.getConnection(), connection::close);
			}
			// Any node, and another one after it has failed.
			int slot = ThreadLocalRandom.current().nextInt(SLOTS);
			Connection lent = (client instanceof JedisCluster cluster) ? cluster.getConnectionFromSlot(slot)
					: (client instanceof RedisClusterClient cluster) ? cluster.getConnectionFromSlot(slot)
							: pooled(client);
			if (lent == null) {
				return null;
			}
			// Spring's connection lends nothing of its own.
			connection.close();
			return new JedisSubscribedConnection(lent, lent);
		}
		catch (RuntimeException ex) {
			connection.close();
			throw ex;
		}
	}

	private static @Nullable Connection pooled(Object client) {
		try {
			if (client instanceof RedisClient single) {
				return single.getPool().getResource();
			}
			return (client instanceof JedisPooled single) ? single.getPool().getResource() : null;
		}
		catch (RuntimeException ex) {
			throw RedisErrors.notConnected(ex);
		}
	}

	private ScriptReply runInCluster(RedisConnection connection, IntFunction<Connection> owners, ScriptCall call,
			Deadline deadline, SendCheck check) {
		int slot = slot(call.keys()[0]);
		Connection node;
		try {
			node = owners.apply(slot);
		}
		catch (RuntimeException ex) {
			return runByCluster(connection, call, check);
		}
		try (Jedis jedis = new Jedis(node)) {
			this.nodes.put(slot, node.toString());
			return run(jedis, call, deadline, check);
		}
		catch (RuntimeException ex) {
			if (!RedisErrors.isTransient(ex)) {
				throw ex;
			}
		}
		return runByCluster(connection, call, check);
	}

	private ScriptReply runByCluster(RedisConnection connection, ScriptCall call, SendCheck check) {
		return new ScriptReply(ScriptRunner.runBySpring(connection, call, check), !this.replicas.isPresent());
	}

	/** Ends at the deadline, since the caller does not wait longer. */
	private ScriptReply run(Jedis jedis, ScriptCall call, Deadline deadline, SendCheck check) {
		check.beginSend();
		Connection connection = jedis.getConnection();
		int usualMillis = connection.getSoTimeout();
		long remainingMillis = Math.max(TimeUnit.NANOSECONDS.toMillis(deadline.remainingNanos()), 1);
		boolean shorter = usualMillis == 0 || remainingMillis < usualMillis;
		if (shorter) {
			connection.setSoTimeout((int) Math.min(remainingMillis, Integer.MAX_VALUE));
		}
		try {
			List<?> values = run(jedis, call, check);
			return new ScriptReply(values,
					!this.replicas.isPresent() || !call.hasGrantedOrRenewed(values) || isReplicated(jedis, deadline));
		}
		catch (RuntimeException ex) {
			if (RedisErrors.isReadOnly(ex)) {
				// The pool closes it: another connection may lead to the present primary.
				connection.setBroken();
			}
			throw ex;
		}
		finally {
			if (shorter && !connection.isBroken()) {
				connection.setSoTimeout(usualMillis);
			}
		}
	}

	private static List<?> run(Jedis jedis, ScriptCall call, SendCheck check) {
		byte[][] keysAndArguments = call.keysAndArguments();
		try {
			return (List<?>) jedis.evalsha(RedisLayout.bytes(call.script().digest()), call.keys().length,
					keysAndArguments);
		}
		catch (RuntimeException ex) {
			if (!RedisErrors.isUnknownScript(ex)) {
				throw ex;
			}
			check.beginSend();
			return (List<?>) jedis.eval(call.script().text(), call.keys().length, keysAndArguments);
		}
	}

	private boolean isReplicated(Jedis jedis, Deadline deadline) {
		return jedis.waitReplicas(this.replicas.count(), this.replicas.timeoutMillis(deadline)) >= this.replicas
			.count();
	}

	/** Sends two commands on one connection of a client that lends no connection. */
	private ScriptReply runPipelined(UnifiedJedis client, ScriptCall call, Deadline deadline, SendCheck check) {
		byte[][] keysAndArguments = call.keysAndArguments();
		try (Pipeline pipeline = (Pipeline) client.pipelined()) {
			check.beginSend();
			Response<Object> reply = pipeline.evalsha(RedisLayout.bytes(call.script().digest()), call.keys().length,
					keysAndArguments);
			pipeline.sync();
			if (isUnknownScript(reply)) {
				check.beginSend();
				reply = pipeline.eval(call.script().text(), call.keys().length, keysAndArguments);
				pipeline.sync();
			}
			List<?> values = (List<?>) reply.get();
			if (!call.hasGrantedOrRenewed(values)) {
				return new ScriptReply(values, true);
			}
			Response<Long> acknowledged = pipeline.waitReplicas(this.replicas.count(),
					this.replicas.timeoutMillis(deadline));
			pipeline.sync();
			return new ScriptReply(values, acknowledged.get() >= this.replicas.count());
		}
	}

	private static boolean isUnknownScript(Response<Object> reply) {
		try {
			reply.get();
			return false;
		}
		catch (RuntimeException ex) {
			return RedisErrors.isUnknownScript(ex);
		}
	}

}
