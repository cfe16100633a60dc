package io.distributedlock.redis;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.provider.CallKind;

/**
 * Runs scripts on workers, each on a connection that the factory gives for that one call.
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
	public Pending<Answer> start(ScriptCall call, CallKind kind, long deadline) {
		return this.workers.submit(kind, deadline, () -> run(this.factory, this.runner, call, deadline));
	}

	private static Answer run(RedisConnectionFactory factory, ScriptRunner runner, ScriptCall call, long deadline) {
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

	@Override
	public long disconnects() {
		return 0;
	}

	@Override
	public void close() {
		this.workers.close();
	}

}
