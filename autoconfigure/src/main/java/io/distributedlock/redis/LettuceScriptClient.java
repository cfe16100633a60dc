package io.distributedlock.redis;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;

/**
 * Runs scripts on the connection that Lettuce shares among all threads: in the caller's
 * thread, by a timed wait for Lettuce's own future. Workers do what blocks: opening the
 * connection, all calls where the factory shares none, and the wait for replicas.
 * <p>
 * Only the application can close a shared connection that does not reply. Until it
 * replies again, scripts run on connections of the pool.
 */
final class LettuceScriptClient implements ScriptClient {

	/** The longest time between the failure of a command and that of its connection. */
	private static final long DISCONNECT_DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private final LettuceConnectionFactory factory;

	private final boolean shared;

	private final WorkerPools workers = new WorkerPools();

	private final DisconnectCounter disconnects = new DisconnectCounter();

	private final LettuceConnectionPool connections;

	private final @Nullable LettuceReplication replication;

	private final UnresponsiveSlotTracker unresponsive;

	private final LettuceTopologyRefresh topology = new LettuceTopologyRefresh();

	/** The client whose shared connection is known to be open. */
	private volatile @Nullable AbstractRedisClient connected;

	LettuceScriptClient(LettuceConnectionFactory factory, ReplicaRequirement replicas) {
		this.factory = factory;
		this.shared = factory.getShareNativeConnection();
		this.connections = new LettuceConnectionPool(factory);
		this.replication = replicas.isPresent() ? new LettuceReplication(this.connections, replicas, this.disconnects)
				: null;
		this.unresponsive = new UnresponsiveSlotTracker((this.replication != null) ? () -> {
		} : this.connections::closeIdle);
	}

	@Override
	public PendingResult<ScriptReply> start(ScriptCall call, CallKind kind, Deadline deadline)
			throws InterruptedException, TimeoutException {
		AbstractRedisClient client = client();
		LettuceReplication replicating = this.replication;
		if (replicating != null && call.needsReplicas()) {
			return this.workers.submit(kind, deadline,
					() -> refreshOnFailure(client, () -> replicating.run(call, kind, deadline)));
		}
		if (!this.shared) {
			return this.workers.submit(kind, deadline, () -> runUnshared(call, kind, deadline));
		}
		int slot = this.factory.isClusterAware() ? SlotHash.getSlot(call.keys()[0]) : 0;
		if (this.unresponsive.contains(slot)) {
			return this.workers.submit(kind, deadline,
					() -> refreshOnFailure(client, () -> runOnPool(call, kind, deadline)));
		}
		RedisClusterAsyncCommands<byte[], byte[]> commands = commands(client, kind, deadline);
		long disconnectsBefore = this.disconnects.count();
		RedisFuture<List<Object>> reply = LettuceCommands.send(commands, call);
		return () -> {
			try {
				return new ScriptReply(LettuceCommands.await(reply, commands, call, kind, deadline), true);
			}
			catch (TimeoutException | RuntimeException ex) {
				this.topology.onFailure(client, ex);
				if (RedisErrors.isTimeout(ex)) {
					this.unresponsive.add(slot, () -> commands.get(call.keys()[0]));
				}
				else {
					awaitDisconnect(ex, disconnectsBefore, deadline);
				}
				throw ex;
			}
		};
	}

	private ScriptReply refreshOnFailure(AbstractRedisClient client, Supplier<ScriptReply> action) {
		try {
			return action.get();
		}
		catch (RuntimeException ex) {
			this.topology.onFailure(client, ex);
			throw ex;
		}
	}

	private ScriptReply runOnPool(ScriptCall call, CallKind kind, Deadline deadline) {
		return this.connections.use((connection) -> new ScriptReply(
				LettuceCommands.run(LettuceConnectionPool.commands(connection), call, kind, deadline), true));
	}

	/**
	 * Waits until the counter has seen the disconnect that made a command fail: commands
	 * fail a moment earlier, and the next call would count the disconnect as its own.
	 */
	private void awaitDisconnect(Exception ex, long disconnectsBefore, Deadline deadline) {
		if (ex instanceof RedisCommandExecutionException) {
			return;
		}
		Deadline end = Deadline.afterNanos(DISCONNECT_DELAY_NANOS).earlier(deadline);
		while (this.disconnects.count() == disconnectsBefore && !end.isPast()
				&& !Thread.currentThread().isInterrupted()) {
			LockSupport.parkNanos(this, TimeUnit.MILLISECONDS.toNanos(1));
		}
	}

	@SuppressWarnings("unchecked")
	private ScriptReply runUnshared(ScriptCall call, CallKind kind, Deadline deadline) {
		try (RedisConnection connection = WorkerScriptClient.connect(this.factory)) {
			return new ScriptReply(
					LettuceCommands.run((RedisClusterAsyncCommands<byte[], byte[]>) connection.getNativeConnection(),
							call, kind, deadline),
					true);
		}
		catch (TimeoutException ex) {
			throw RedisErrors.timedOut(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw RedisErrors.interrupted(ex);
		}
	}

	private AbstractRedisClient client() {
		try {
			AbstractRedisClient client = this.factory.getRequiredNativeClient();
			this.disconnects.watch(client);
			return client;
		}
		catch (IllegalStateException ex) {
			throw RedisErrors.notConnected(ex);
		}
	}

	private RedisClusterAsyncCommands<byte[], byte[]> commands(AbstractRedisClient client, CallKind kind,
			Deadline deadline) throws InterruptedException, TimeoutException {
		if (client == this.connected) {
			return sharedCommands();
		}
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.workers.submit(kind, deadline, this::sharedCommands)
			.await();
		this.connected = client;
		return commands;
	}

	/**
	 * The commands of the shared connection, which closing Spring's wrapper keeps open.
	 */
	@SuppressWarnings("unchecked")
	private RedisClusterAsyncCommands<byte[], byte[]> sharedCommands() {
		try (RedisConnection connection = this.factory.getConnection()) {
			return (RedisClusterAsyncCommands<byte[], byte[]>) connection.getNativeConnection();
		}
		catch (RuntimeException ex) {
			throw RedisErrors.notConnected(ex);
		}
	}

	@Override
	public long disconnects() {
		return this.disconnects.count();
	}

	@Override
	public void close() {
		this.disconnects.close();
		this.workers.close();
		this.connections.close();
	}

}
