package io.distributedlock.redis;

import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Runs scripts on the connection that Lettuce shares among all threads: in the caller's
 * thread, by a timed wait on Lettuce's own future. A call that ends early is cancelled,
 * so that it is not sent again after a reconnect. What blocks is left to workers: opening
 * the connection, everything where the factory shares none, and waiting for replicas.
 */
final class LettuceScripts implements ScriptClient {

	private final LettuceConnectionFactory factory;

	private final boolean shared;

	private final Workers workers = new Workers();

	private final DisconnectCounter disconnects = new DisconnectCounter();

	private final @Nullable LettuceReplication replication;

	/** The client whose shared connection is known to be open. */
	private volatile @Nullable AbstractRedisClient connected;

	LettuceScripts(LettuceConnectionFactory factory, Replicas replicas) {
		this.factory = factory;
		this.shared = factory.getShareNativeConnection();
		this.replication = replicas.areAsked() ? new LettuceReplication(factory, replicas, this.disconnects) : null;
	}

	@Override
	public Pending<Answer> start(ScriptCall call, CallKind kind, long deadline)
			throws InterruptedException, TimeoutException {
		AbstractRedisClient client = client();
		LettuceReplication replicating = this.replication;
		if (replicating != null && call.prolongs()) {
			return this.workers.submit(kind, deadline, () -> replicating.run(call, kind, deadline));
		}
		if (!this.shared) {
			return this.workers.submit(kind, deadline,
					() -> WorkerScripts.run(this.factory,
							(connection, script, end) -> new Answer(ScriptRunner.bySpring(connection, script), true),
							call, deadline));
		}
		RedisClusterAsyncCommands<byte[], byte[]> commands = commands(client, kind, deadline);
		RedisFuture<List<Object>> answer = commands.evalsha(call.script().digest(), ScriptOutputType.MULTI, call.keys(),
				call.arguments());
		return () -> {
			try {
				return new Answer(await(answer, kind, deadline), true);
			}
			catch (RuntimeException ex) {
				if (!RedisErrors.isUnknownScript(ex)) {
					throw ex;
				}
				RedisFuture<List<Object>> second = commands.eval(call.script().text(), ScriptOutputType.MULTI,
						call.keys(), call.arguments());
				return new Answer(await(second, kind, deadline), true);
			}
		};
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
		if (this.replication != null) {
			this.replication.close();
		}
	}

}
