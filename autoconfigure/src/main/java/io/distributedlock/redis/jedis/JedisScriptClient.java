package io.distributedlock.redis.jedis;

import java.lang.reflect.Field;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntFunction;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.providers.ClusterConnectionProvider;
import redis.clients.jedis.providers.ConnectionProvider;
import redis.clients.jedis.util.JedisClusterCRC16;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.util.ReflectionUtils;

import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.script.BlockingScriptClient;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.ReplicaRequirement;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptOutcome;
import io.distributedlock.redis.script.SendGuard;
import io.distributedlock.redis.script.SubscribedConnection;

/**
 * Runs scripts with any of the clients of Jedis, where possible on one connection: its
 * read time-out is then that of the call, and WAIT follows in the same round trip.
 * <p>
 * In a cluster it calls the node of the slot itself, since Jedis would send a command
 * again whose reply was lost, without telling. Only a call that the node has surely not
 * run is left to Jedis, which follows redirections and refreshes its view of the nodes.
 */
public final class JedisScriptClient implements BlockingScriptClient {

	/** The groups of workers for the slots whose master is not known. */
	private static final int UNKNOWN_GROUPS = 8;

	private static final @Nullable Field PROVIDER = ReflectionUtils.findField(UnifiedJedis.class, "provider");

	private static final int SLOTS = 16_384;

	private final ReplicaRequirement replicas;

	private final JedisPipeline pipeline;

	/**
	 * The nodes of a cluster by slot, as the last call found them; at most one slot per
	 * bucket. A node is the text of a connection to it, which names its address. Jedis
	 * knows them too, but shows them only by a connection.
	 */
	private final Map<Integer, String> nodes = new ConcurrentHashMap<>();

	public JedisScriptClient(ReplicaRequirement replicas) {
		this.replicas = replicas;
		this.pipeline = new JedisPipeline(replicas);
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
		if (this.nodes.isEmpty()) {
			// A single server is none of the nodes.
			return null;
		}
		String node = this.nodes.get(slot);
		// Slots without a known master share a few groups, so that threads stay few.
		return (node != null) ? node : Integer.valueOf(slot % UNKNOWN_GROUPS);
	}

	@Override
	public List<ScriptOutcome> run(RedisConnection connection, List<ScriptCall> calls, Deadline deadline,
			SendGuard caller) {
		Object client = connection.getNativeConnection();
		IntFunction<Connection> owners = owners(client);
		if (owners != null) {
			return runInCluster(connection, owners, calls, deadline, caller);
		}
		if (client instanceof Jedis jedis) {
			return this.pipeline.run(jedis.getConnection(), calls, deadline, caller);
		}
		Connection pooled = pooled(client);
		if (pooled != null) {
			try (pooled) {
				return this.pipeline.run(pooled, calls, deadline, caller);
			}
		}
		if (this.replicas.isPresent() && calls.stream().anyMatch(ScriptCall::needsReplicas)) {
			throw RedisErrors.replicasNotSupported();
		}
		// Jedis returns one value as such only if it is not asked for several.
		return BlockingScriptClient.runBySpring(connection, calls, caller, true,
				(client instanceof UnifiedJedis) ? ReturnType.VALUE : ReturnType.MULTI);
	}

	/**
	 * Returns a connection for a subscription.
	 * @param connection the connection of Spring that leads to it
	 * @return the connection, or {@code null} if it is not one of Jedis
	 */
	public static @Nullable SubscribedConnection subscribed(RedisConnection connection) {
		try {
			Object client = connection.getNativeConnection();
			if (client instanceof Jedis jedis) {
				return new JedisSubscribedConnection(jedis.getConnection(), connection);
			}
			// Any node, and another one after it has failed.
			int slot = ThreadLocalRandom.current().nextInt(SLOTS);
			IntFunction<Connection> owners = owners(client);
			Connection lent = (owners != null) ? owners.apply(slot) : pooled(client);
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

	/** Returns the way to the node of a slot, or {@code null} if there is no cluster. */
	private static @Nullable IntFunction<Connection> owners(Object client) {
		return (provider(client) instanceof ClusterConnectionProvider cluster) ? cluster::getConnectionFromSlot : null;
	}

	private static @Nullable Connection pooled(Object client) {
		ConnectionProvider provider = provider(client);
		try {
			return (provider != null) ? provider.getConnection() : null;
		}
		catch (RuntimeException ex) {
			throw RedisErrors.notConnected(ex);
		}
	}

	/**
	 * Returns the provider of a client's connections, {@code null} if it has none. Some
	 * clients show it to subclasses only, such as that of sentinels. But without the
	 * socket no call has a time-out of its own, and no subscription to which the server
	 * does not reply any more can be left.
	 */
	private static @Nullable ConnectionProvider provider(Object client) {
		if (!(client instanceof UnifiedJedis) || PROVIDER == null) {
			return null;
		}
		ReflectionUtils.makeAccessible(PROVIDER);
		return (ConnectionProvider) ReflectionUtils.getField(PROVIDER, client);
	}

	private List<ScriptOutcome> runInCluster(RedisConnection connection, IntFunction<Connection> owners,
			List<ScriptCall> calls, Deadline deadline, SendGuard caller) {
		int slot = slot(calls.get(0).keys()[0]);
		Connection node;
		try {
			node = owners.apply(slot);
		}
		catch (RuntimeException ex) {
			return runByCluster(connection, calls, caller);
		}
		List<ScriptOutcome> outcomes;
		try (node) {
			this.nodes.put(slot, node.toString());
			outcomes = this.pipeline.run(node, calls, deadline, caller);
		}
		for (int i = 0; i < calls.size(); i++) {
			RuntimeException failure = outcomes.get(i).failure();
			if (failure != null && RedisErrors.isTransient(failure)) {
				if (calls.size() == 1) {
					return runByCluster(connection, calls, caller);
				}
				// Each is run again alone: the others must not wait for another node.
				this.nodes.remove(slot(calls.get(i).keys()[0]));
			}
		}
		return outcomes;
	}

	private List<ScriptOutcome> runByCluster(RedisConnection connection, List<ScriptCall> calls, SendGuard caller) {
		return BlockingScriptClient.runBySpring(connection, calls, caller, !this.replicas.isPresent(),
				ReturnType.VALUE);
	}

}
