package io.distributedlock.redis;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

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

import io.distributedlock.redis.ScriptClient.Answer;

/**
 * Runs scripts by Jedis, any of its clients, on one of its connections where they give
 * one: so that a script waits no longer than it may, and WAIT follows it on the same
 * connection. In a cluster it asks the slot's node itself: Jedis sends a command again
 * whose answer was lost, and does not tell. Only what the node has clearly not run is
 * left to Jedis, which follows redirections and looks for nodes anew.
 */
final class JedisScriptRunner implements ScriptRunner {

	private final ReplicaRequirement replicas;

	JedisScriptRunner(ReplicaRequirement replicas) {
		this.replicas = replicas;
	}

	@Override
	public Answer run(RedisConnection connection, ScriptCall call, long deadline) {
		Object client = connection.getNativeConnection();
		int slot = JedisClusterCRC16.getSlot(call.keys()[0]);
		if (client instanceof JedisCluster cluster) {
			return runInCluster(connection, () -> cluster.getConnectionFromSlot(slot), call, deadline);
		}
		if (client instanceof RedisClusterClient cluster) {
			return runInCluster(connection, () -> cluster.getConnectionFromSlot(slot), call, deadline);
		}
		if (client instanceof Jedis jedis) {
			return run(jedis, call, deadline);
		}
		Connection pooled = pooled(client);
		if (pooled != null) {
			try (Jedis jedis = new Jedis(pooled)) {
				return run(jedis, call, deadline);
			}
		}
		if (!this.replicas.areAsked() || !call.prolongs()) {
			return new Answer(ScriptRunner.bySpring(connection, call), true);
		}
		if (client instanceof UnifiedJedis unified) {
			return runPipelined(unified, call, deadline);
		}
		throw RedisErrors.cannotWait();
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

	private Answer runInCluster(RedisConnection connection, Supplier<Connection> owner, ScriptCall call,
			long deadline) {
		Connection node;
		try {
			node = owner.get();
		}
		catch (RuntimeException ex) {
			return byCluster(connection, call);
		}
		try (Jedis jedis = new Jedis(node)) {
			return run(jedis, call, deadline);
		}
		catch (RuntimeException ex) {
			if (!RedisErrors.isPassing(ex)) {
				throw ex;
			}
		}
		return byCluster(connection, call);
	}

	private Answer byCluster(RedisConnection connection, ScriptCall call) {
		return new Answer(ScriptRunner.bySpring(connection, call), !this.replicas.areAsked());
	}

	/** Whoever waits for it has left at the deadline, so the worker need not stay. */
	private Answer run(Jedis jedis, ScriptCall call, long deadline) {
		Connection connection = jedis.getConnection();
		int usual = connection.getSoTimeout();
		long left = Math.max(TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime()), 1);
		boolean shorter = usual == 0 || left < usual;
		if (shorter) {
			connection.setSoTimeout((int) Math.min(left, Integer.MAX_VALUE));
		}
		try {
			List<?> values = run(jedis, call);
			return new Answer(values,
					!this.replicas.areAsked() || !call.hasProlonged(values) || isReplicated(jedis, deadline));
		}
		finally {
			if (shorter && !connection.isBroken()) {
				connection.setSoTimeout(usual);
			}
		}
	}

	private static List<?> run(Jedis jedis, ScriptCall call) {
		byte[][] keysAndArguments = call.keysAndArguments();
		try {
			return (List<?>) jedis.evalsha(RedisLayout.bytes(call.script().digest()), call.keys().length,
					keysAndArguments);
		}
		catch (RuntimeException ex) {
			if (!RedisErrors.isUnknownScript(ex)) {
				throw ex;
			}
			return (List<?>) jedis.eval(call.script().text(), call.keys().length, keysAndArguments);
		}
	}

	private boolean isReplicated(Jedis jedis, long deadline) {
		return jedis.waitReplicas(this.replicas.atLeast(), this.replicas.millis(deadline)) >= this.replicas.atLeast();
	}

	/**
	 * Where the client gives no connection, a pipeline is the only way to keep one for
	 * two commands.
	 */
	private Answer runPipelined(UnifiedJedis client, ScriptCall call, long deadline) {
		byte[][] keysAndArguments = call.keysAndArguments();
		try (Pipeline pipeline = (Pipeline) client.pipelined()) {
			Response<Object> answer = pipeline.evalsha(RedisLayout.bytes(call.script().digest()), call.keys().length,
					keysAndArguments);
			pipeline.sync();
			if (isUnknownScript(answer)) {
				answer = pipeline.eval(call.script().text(), call.keys().length, keysAndArguments);
				pipeline.sync();
			}
			List<?> values = (List<?>) answer.get();
			if (!call.hasProlonged(values)) {
				return new Answer(values, true);
			}
			Response<Long> acknowledged = pipeline.waitReplicas(this.replicas.atLeast(),
					this.replicas.millis(deadline));
			pipeline.sync();
			return new Answer(values, acknowledged.get() >= this.replicas.atLeast());
		}
	}

	private static boolean isUnknownScript(Response<Object> answer) {
		try {
			answer.get();
			return false;
		}
		catch (RuntimeException ex) {
			return RedisErrors.isUnknownScript(ex);
		}
	}

}
