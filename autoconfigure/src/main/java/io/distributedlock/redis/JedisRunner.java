package io.distributedlock.redis;

import java.util.List;
import java.util.function.Supplier;

import redis.clients.jedis.Connection;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisCluster;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.util.JedisClusterCRC16;

import org.springframework.data.redis.connection.RedisConnection;

import io.distributedlock.redis.ScriptClient.Answer;

/**
 * Runs scripts by Jedis, any of its clients. In a cluster it asks the slot's node itself:
 * Jedis sends a command again whose answer was lost, and does not tell. Only what the
 * node has clearly not run is left to Jedis, which follows redirections and looks for
 * nodes anew.
 */
final class JedisRunner implements ScriptRunner {

	private final Replicas replicas;

	JedisRunner(Replicas replicas) {
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
		if (this.replicas.areAsked() && call.prolongs() && client instanceof UnifiedJedis pool) {
			return runOnOneConnection(pool, call, deadline);
		}
		List<?> values = ScriptRunner.bySpring(connection, call);
		if (!this.replicas.areAsked() || !call.hasProlonged(values)) {
			return new Answer(values, true);
		}
		if (client instanceof Jedis jedis) {
			return new Answer(values, isReplicated(jedis, deadline));
		}
		throw RedisErrors.cannotWait();
	}

	/**
	 * A pipeline is the only way to keep one of the pool's connections for two commands.
	 */
	private Answer runOnOneConnection(UnifiedJedis pool, ScriptCall call, long deadline) {
		byte[][] keysAndArguments = call.keysAndArguments();
		try (Pipeline pipeline = (Pipeline) pool.pipelined()) {
			Response<Object> answer = pipeline.evalsha(RedisKeys.bytes(call.script().digest()), call.keys().length,
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
			List<?> values = run(jedis, call);
			return new Answer(values,
					!this.replicas.areAsked() || !call.hasProlonged(values) || isReplicated(jedis, deadline));
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

	private static List<?> run(Jedis jedis, ScriptCall call) {
		byte[][] keysAndArguments = call.keysAndArguments();
		try {
			return (List<?>) jedis.evalsha(RedisKeys.bytes(call.script().digest()), call.keys().length,
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

}
