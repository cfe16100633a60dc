package io.distributedlock.redis;

import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.WorkerResult;

/**
 * Executor of scripts over a client that blocks. Workers call the client, each on a
 * connection that the factory opens or lends for that one call; the caller waits until
 * the deadline at most.
 */
final class BlockingScriptExecutor implements ScriptExecutor {

	private final RedisConnectionFactory factory;

	private final ScriptRunner runner;

	private final WorkerPools workers = new WorkerPools();

	BlockingScriptExecutor(RedisConnectionFactory factory, ScriptRunner runner) {
		this.factory = factory;
		this.runner = runner;
	}

	@Override
	public boolean isBlocking() {
		return true;
	}

	@Override
	public void run(ScriptCall call, CallKind kind, Deadline deadline, ScriptOperation<?> operation) {
		ScriptReply reply;
		try {
			reply = runRepeatedly(call, kind, deadline);
		}
		catch (LockProviderException ex) {
			operation.fail(ex);
			return;
		}
		operation.reply(reply);
	}

	private ScriptReply runRepeatedly(ScriptCall call, CallKind kind, Deadline deadline) {
		long pauseNanos = 0;
		while (true) {
			try {
				return runOnce(call, kind, deadline);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw RedisErrors.interrupted(ex);
			}
			catch (RuntimeException ex) {
				pauseNanos = RepetitionPause.after(pauseNanos, ex, kind, deadline);
				if (pauseNanos == 0) {
					throw RedisErrors.translate(ex, false);
				}
				pause(pauseNanos, kind, ex);
			}
		}
	}

	/** Runs a script in a worker; the caller leaves at its deadline. */
	private ScriptReply runOnce(ScriptCall call, CallKind kind, Deadline deadline) throws InterruptedException {
		WorkerResult<ScriptReply> result = new WorkerResult<>();
		AtomicBoolean begun = new AtomicBoolean();
		this.workers.execute(kind, this.runner.node(call), () -> {
			begun.set(true);
			if (!result.isAbandoned()) {
				work(call, deadline, result);
			}
		});
		if (!result.await(deadline, kind)) {
			TimeoutException ex = new TimeoutException("No reply in time");
			throw begun.get() ? RedisErrors.timedOut(ex) : RedisErrors.notCalledInTime(ex);
		}
		if (result.failure() instanceof RuntimeException failure) {
			throw failure;
		}
		return result.value();
	}

	private void work(ScriptCall call, Deadline deadline, WorkerResult<ScriptReply> result) {
		try {
			result.complete(runOnConnection(call, deadline));
		}
		catch (RuntimeException ex) {
			result.fail(ex);
		}
		catch (Error ex) {
			result.fail(new IllegalStateException(ex));
			throw ex;
		}
	}

	private ScriptReply runOnConnection(ScriptCall call, Deadline deadline) {
		try (RedisConnection connection = connect()) {
			return this.runner.run(connection, call, deadline);
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

	private static void pause(long nanos, CallKind kind, RuntimeException ex) {
		Deadline end = Deadline.afterNanos(nanos);
		while (!end.isPast()) {
			if (Thread.currentThread().isInterrupted()) {
				throw kind.interruptible() ? RedisErrors.interrupted(ex) : RedisErrors.translate(ex, false);
			}
			LockSupport.parkNanos(end.remainingNanos());
		}
	}

	@Override
	public void close() {
		this.workers.close();
	}

}
