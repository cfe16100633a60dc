package io.distributedlock.redis;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.provider.CallKind;

/**
 * Runs scripts in worker threads, each on a connection that the factory opens or lends
 * for that one call.
 */
final class WorkerScriptClient implements ScriptClient {

	private final RedisConnectionFactory factory;

	private final ScriptRunner runner;

	private final WorkerPools workers = new WorkerPools();

	WorkerScriptClient(RedisConnectionFactory factory, ScriptRunner runner) {
		this.factory = factory;
		this.runner = runner;
	}

	@Override
	public PendingResult<ScriptReply> start(ScriptCall call, CallKind kind, long deadlineNanos) {
		return this.workers.submit(kind, deadlineNanos, () -> run(this.factory, this.runner, call, deadlineNanos));
	}

	private static ScriptReply run(RedisConnectionFactory factory, ScriptRunner runner, ScriptCall call,
			long deadlineNanos) {
		try (RedisConnection connection = connect(factory)) {
			return runner.run(connection, call, deadlineNanos);
		}
	}

	static RedisConnection connect(RedisConnectionFactory factory) {
		try {
			return factory.getConnection();
		}
		catch (RuntimeException ex) {
			throw RedisErrors.notConnected(ex);
		}
	}

	/** Always 0: each call has a connection of its own, which is not opened again. */
	@Override
	public long disconnects() {
		return 0;
	}

	@Override
	public void close() {
		this.workers.close();
	}

}
