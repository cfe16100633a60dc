package io.distributedlock.redis;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.support.LockThreads;
import io.distributedlock.support.WorkerResult;

/**
 * Runs scripts on a few workers, for clients whose calls nothing can end from outside:
 * the caller waits no longer than it may, whatever the client and its pool do.
 */
final class WorkerScripts implements ScriptClient {

	private final RedisConnectionFactory factory;

	private final ExecutorService acquirers = LockThreads.pool("redis-call", 4);

	private final ExecutorService releasers = LockThreads.pool("redis-release", 2);

	/**
	 * Two, so that a renewal whose answer is lost does not keep the next from being sent.
	 */
	private final ExecutorService renewers = LockThreads.pool("redis-renewal", 2);

	WorkerScripts(RedisConnectionFactory factory) {
		this.factory = factory;
	}

	@Override
	public Pending start(ScriptCall call, CallKind kind, long deadline) {
		Task<List<?>> task = submit(kind, deadline, (connection) -> run(connection, call));
		return task::await;
	}

	/** Does something with a connection of its own. */
	<T> Task<T> submit(CallKind kind, long deadline, Function<RedisConnection, T> action) {
		WorkerResult<T> end = new WorkerResult<>();
		try {
			executor(kind).execute(() -> work(action, end));
		}
		catch (RejectedExecutionException ex) {
			throw LockProviderException.nothingSent(LockError.SHUTTING_DOWN, RedisErrors.PROVIDER, "is closed", ex);
		}
		return () -> {
			if (!end.await(deadline, kind.interruptible())) {
				throw new TimeoutException("No answer in time");
			}
			if (end.failure() instanceof RuntimeException failure) {
				throw failure;
			}
			return end.value();
		};
	}

	private <T> void work(Function<RedisConnection, T> action, WorkerResult<T> end) {
		if (end.isAbandoned()) {
			return;
		}
		try {
			RedisConnection connection = connect();
			try {
				end.complete(action.apply(connection));
			}
			finally {
				connection.close();
			}
		}
		catch (RuntimeException ex) {
			end.fail(ex);
		}
		catch (Error ex) {
			end.fail(new IllegalStateException(ex));
			throw ex;
		}
	}

	private RedisConnection connect() {
		try {
			return this.factory.getConnection();
		}
		catch (RuntimeException ex) {
			throw RedisErrors.notConnected(ex);
		}
	}

	private static List<?> run(RedisConnection connection, ScriptCall call) {
		byte[][] keysAndArguments = call.keysAndArguments();
		try {
			return Objects.requireNonNull(connection.scriptingCommands()
				.<List<?>>evalSha(call.script().digest(), ReturnType.MULTI, call.keys().length, keysAndArguments));
		}
		catch (RuntimeException ex) {
			if (!RedisErrors.isUnknownScript(ex)) {
				throw ex;
			}
			return Objects.requireNonNull(connection.scriptingCommands()
				.<List<?>>eval(call.script().text(), ReturnType.MULTI, call.keys().length, keysAndArguments));
		}
	}

	@Override
	public long disconnects() {
		return 0;
	}

	private ExecutorService executor(CallKind kind) {
		return switch (kind) {
			case ACQUIRE -> this.acquirers;
			case RELEASE -> this.releasers;
			case RENEWAL -> this.renewers;
		};
	}

	/** Takes no more calls. Those under way end by themselves. */
	@Override
	public void close() {
		this.acquirers.shutdown();
		this.releasers.shutdown();
		this.renewers.shutdown();
	}

	/**
	 * Something that a worker does.
	 *
	 * @param <T> what it gives
	 */
	@FunctionalInterface
	interface Task<T> {

		T await() throws InterruptedException, TimeoutException;

	}

}
