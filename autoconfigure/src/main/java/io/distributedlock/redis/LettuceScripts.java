package io.distributedlock.redis;

import java.util.List;
import java.util.concurrent.ExecutionException;
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
 * so that it is not sent again after a reconnect. Only opening the connection, which
 * blocks, is left to a worker.
 */
final class LettuceScripts implements ScriptClient {

	private final LettuceConnectionFactory factory;

	private final WorkerScripts workers;

	private final DisconnectCounter disconnects = new DisconnectCounter();

	/** The client whose shared connection is known to be open. */
	private volatile @Nullable AbstractRedisClient connected;

	LettuceScripts(LettuceConnectionFactory factory) {
		this.factory = factory;
		this.workers = new WorkerScripts(factory);
	}

	@Override
	public Pending start(ScriptCall call, CallKind kind, long deadline) throws InterruptedException, TimeoutException {
		RedisClusterAsyncCommands<byte[], byte[]> commands = commands(kind, deadline);
		RedisFuture<List<Object>> answer = commands.evalsha(call.script().digest(), ScriptOutputType.MULTI, call.keys(),
				call.arguments());
		return () -> {
			try {
				return await(answer, kind, deadline);
			}
			catch (RuntimeException ex) {
				if (!RedisErrors.isUnknownScript(ex)) {
					throw ex;
				}
				RedisFuture<List<Object>> second = commands.eval(call.script().text(), ScriptOutputType.MULTI,
						call.keys(), call.arguments());
				return await(second, kind, deadline);
			}
		};
	}

	private RedisClusterAsyncCommands<byte[], byte[]> commands(CallKind kind, long deadline)
			throws InterruptedException, TimeoutException {
		AbstractRedisClient client;
		try {
			client = this.factory.getRequiredNativeClient();
		}
		catch (IllegalStateException ex) {
			throw RedisErrors.notConnected(ex);
		}
		if (client == this.connected) {
			try (RedisConnection connection = this.factory.getConnection()) {
				return commands(connection);
			}
			catch (RuntimeException ex) {
				throw RedisErrors.notConnected(ex);
			}
		}
		this.disconnects.watch(client);
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.workers
			.submit(kind, deadline, LettuceScripts::commands)
			.await();
		this.connected = client;
		return commands;
	}

	/** The shared connection, which outlives the one that Spring wraps around it. */
	@SuppressWarnings("unchecked")
	private static RedisClusterAsyncCommands<byte[], byte[]> commands(RedisConnection connection) {
		return (RedisClusterAsyncCommands<byte[], byte[]>) connection.getNativeConnection();
	}

	private static <T> T await(RedisFuture<T> answer, CallKind kind, long deadline)
			throws InterruptedException, TimeoutException {
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
	}

}
