package io.distributedlock.redis;

import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.distributedlock.provider.CallKind;

/**
 * Runs scripts on the connection that Lettuce shares among all threads: in the caller's
 * thread, by a timed wait on Lettuce's own future. A call that ends early is cancelled,
 * so that it is not sent again after a reconnect. What blocks is left to workers: opening
 * the connection, everything where the factory shares none, and waiting for replicas.
 * <p>
 * A shared connection that does not answer is the application's to close; until it
 * answers again scripts have connections of their own.
 */
final class LettuceScriptClient implements ScriptClient {

	/** How long a broken connection may take to be noticed as such. */
	private static final long NOTICE = TimeUnit.MILLISECONDS.toNanos(50);

	private final LettuceConnectionFactory factory;

	private final boolean shared;

	private final WorkerPools workers = new WorkerPools();

	private final DisconnectCounter disconnects = new DisconnectCounter();

	private final LettuceConnectionPool connections;

	private final @Nullable LettuceReplication replication;

	private final UnresponsiveSlotTracker silent;

	private final LettuceTopologyRefresh topology = new LettuceTopologyRefresh();

	/** The client whose shared connection is known to be open. */
	private volatile @Nullable AbstractRedisClient connected;

	LettuceScriptClient(LettuceConnectionFactory factory, ReplicaRequirement replicas) {
		this.factory = factory;
		this.shared = factory.getShareNativeConnection();
		this.connections = new LettuceConnectionPool(factory);
		this.replication = replicas.areAsked() ? new LettuceReplication(this.connections, replicas, this.disconnects)
				: null;
		this.silent = new UnresponsiveSlotTracker((this.replication != null) ? () -> {
		} : this.connections::closeIdle);
	}

	@Override
	public Pending<Answer> start(ScriptCall call, CallKind kind, long deadline)
			throws InterruptedException, TimeoutException {
		AbstractRedisClient client = client();
		LettuceReplication replicating = this.replication;
		if (replicating != null && call.prolongs()) {
			return this.workers.submit(kind, deadline,
					() -> observed(client, () -> replicating.run(call, kind, deadline)));
		}
		if (!this.shared) {
			return this.workers.submit(kind, deadline, () -> unshared(call, kind, deadline));
		}
		int slot = this.factory.isClusterAware() ? SlotHash.getSlot(call.keys()[0]) : 0;
		if (this.silent.contains(slot)) {
			return this.workers.submit(kind, deadline, () -> observed(client, () -> beside(call, kind, deadline)));
		}
		RedisClusterAsyncCommands<byte[], byte[]> commands = commands(client, kind, deadline);
		long broken = this.disconnects.count();
		RedisFuture<List<Object>> answer = evalsha(commands, call);
		return () -> {
			try {
				return new Answer(run(answer, commands, call, kind, deadline), true);
			}
			catch (TimeoutException | RuntimeException ex) {
				this.topology.failed(client, ex);
				if (RedisErrors.isTimeout(ex)) {
					this.silent.add(slot, () -> commands.get(call.keys()[0]));
				}
				else {
					awaitDisconnect(ex, broken, deadline);
				}
				throw ex;
			}
		};
	}

	private Answer observed(AbstractRedisClient client, Supplier<Answer> action) {
		try {
			return action.get();
		}
		catch (RuntimeException ex) {
			this.topology.failed(client, ex);
			throw ex;
		}
	}

	private Answer beside(ScriptCall call, CallKind kind, long deadline) {
		return this.connections
			.use((connection) -> new Answer(run(LettuceConnectionPool.commands(connection), call, kind, deadline),
					true));
	}

	private static RedisFuture<List<Object>> evalsha(RedisClusterAsyncCommands<byte[], byte[]> commands,
			ScriptCall call) {
		return commands.evalsha(call.script().digest(), ScriptOutputType.MULTI, call.keys(), call.arguments());
	}

	static List<Object> run(RedisClusterAsyncCommands<byte[], byte[]> commands, ScriptCall call, CallKind kind,
			long deadline) throws InterruptedException, TimeoutException {
		return run(evalsha(commands, call), commands, call, kind, deadline);
	}

	private static List<Object> run(RedisFuture<List<Object>> answer,
			RedisClusterAsyncCommands<byte[], byte[]> commands, ScriptCall call, CallKind kind, long deadline)
			throws InterruptedException, TimeoutException {
		try {
			return await(answer, kind, deadline);
		}
		catch (RuntimeException ex) {
			if (!RedisErrors.isUnknownScript(ex)) {
				throw ex;
			}
			return await(commands.eval(call.script().text(), ScriptOutputType.MULTI, call.keys(), call.arguments()),
					kind, deadline);
		}
	}

	/**
	 * Commands fail a moment before their connection counts as broken. In that moment the
	 * next call would have to take itself for one that was under way.
	 */
	private void awaitDisconnect(Exception ex, long broken, long deadline) {
		if (ex instanceof RedisCommandExecutionException) {
			return;
		}
		long end = Math.min(System.nanoTime() + NOTICE - deadline, 0) + deadline;
		while (this.disconnects.count() == broken && end - System.nanoTime() > 0
				&& !Thread.currentThread().isInterrupted()) {
			LockSupport.parkNanos(this, TimeUnit.MILLISECONDS.toNanos(1));
		}
	}

	@SuppressWarnings("unchecked")
	private Answer unshared(ScriptCall call, CallKind kind, long deadline) {
		try (RedisConnection connection = WorkerScriptClient.connect(this.factory)) {
			return new Answer(run((RedisClusterAsyncCommands<byte[], byte[]>) connection.getNativeConnection(), call,
					kind, deadline), true);
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

	private RedisClusterAsyncCommands<byte[], byte[]> commands(AbstractRedisClient client, CallKind kind, long deadline)
			throws InterruptedException, TimeoutException {
		if (client == this.connected) {
			return commands();
		}
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.workers.submit(kind, deadline, this::commands)
			.await();
		this.connected = client;
		return commands;
	}

	/** The shared connection, which outlives the one that Spring wraps around it. */
	@SuppressWarnings("unchecked")
	private RedisClusterAsyncCommands<byte[], byte[]> commands() {
		try (RedisConnection connection = this.factory.getConnection()) {
			return (RedisClusterAsyncCommands<byte[], byte[]>) connection.getNativeConnection();
		}
		catch (RuntimeException ex) {
			throw RedisErrors.notConnected(ex);
		}
	}

	static <T> T await(Future<T> answer, CallKind kind, long deadline) throws InterruptedException, TimeoutException {
		boolean interrupted = false;
		boolean ended = false;
		try {
			while (true) {
				try {
					T result = answer.get(Math.max(deadline - System.nanoTime(), 0), TimeUnit.NANOSECONDS);
					ended = true;
					return result;
				}
				catch (InterruptedException ex) {
					if (kind.interruptible()) {
						throw ex;
					}
					interrupted = true;
				}
			}
		}
		catch (ExecutionException ex) {
			ended = true;
			if (ex.getCause() instanceof RuntimeException failure) {
				throw failure;
			}
			throw new IllegalStateException(ex.getCause());
		}
		finally {
			if (!ended) {
				answer.cancel(true);
			}
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
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
