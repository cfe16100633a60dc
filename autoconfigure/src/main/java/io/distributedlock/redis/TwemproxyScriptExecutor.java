package io.distributedlock.redis;

import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;

/**
 * Executor behind Twemproxy, which sends a script to the server that the hash tag of its
 * first key leads to. A bucket is here what a slot is in a cluster: all keys of one are
 * on one server, and a script never has keys of two. The client knows the proxy alone, so
 * that the servers are those that the check has found.
 */
final class TwemproxyScriptExecutor implements ScriptExecutor {

	private final ScriptExecutor executor;

	/** The run id of the server of each bucket, as far as it has replied. */
	private final AtomicReferenceArray<@Nullable String> servers = new AtomicReferenceArray<>(RedisLayout.BUCKETS);

	TwemproxyScriptExecutor(ScriptExecutor executor) {
		this.executor = executor;
	}

	/** Records the server that ran a script. */
	void recordServer(ScriptCall call, @Nullable String runId) {
		this.servers.set(slot(call.keys()[0]), runId);
	}

	@Override
	public boolean isBlocking() {
		return this.executor.isBlocking();
	}

	@Override
	public void run(ScriptCall call, CallKind kind, Deadline deadline, ScriptOperation<?> operation) {
		this.executor.run(call, kind, deadline, operation);
	}

	@Override
	public void runAll(List<ScriptRun> runs, CallKind kind, Deadline deadline) {
		this.executor.runAll(runs, kind, deadline);
	}

	@Override
	public int slot(byte[] key) {
		return RedisLayout.bucket(key);
	}

	@Override
	public @Nullable Object node(int slot) {
		return this.servers.get(slot);
	}

	@Override
	public @Nullable Object client() {
		return this.executor.client();
	}

	@Override
	public void close() {
		this.executor.close();
	}

}
