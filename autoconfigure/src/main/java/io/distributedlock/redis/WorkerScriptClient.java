package io.distributedlock.redis;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;

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
	public PendingResult<ScriptReply> start(ScriptCall call, CallKind kind, Deadline deadline) {
		return this.workers.submit(kind, deadline, () -> run(this.factory, this.runner, call, deadline));
	}

	private static ScriptReply run(RedisConnectionFactory factory, ScriptRunner runner, ScriptCall call,
			Deadline deadline) {
		try (RedisConnection connection = connect(factory)) {
			return runner.run(connection, call, deadline);
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
