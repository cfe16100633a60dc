package io.distributedlock.redis.check;

import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.ReplyHandler;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptExecutor;
import io.distributedlock.redis.script.ScriptSubmission;

/**
 * Executor behind Twemproxy, which sends a script to the server that the hash tag of its
 * first key leads to. A bucket is here what a slot is in a cluster: all keys of one are
 * on one server, and a script never has keys of two. The client knows the proxy alone, so
 * that the servers are those that the check has found.
 * <p>
 * Invariant: that a lock is not held is believed only after a probe that began later has
 * found all keys of its server on one.
 */
public final class TwemproxyScriptExecutor implements ScriptExecutor {

	private final ScriptExecutor executor;

	private final RedisLayout layout;

	private final LockTimer timer;

	/** The server of each bucket, as far as it has replied. */
	private final AtomicReferenceArray<@Nullable ServerIdentity> servers = new AtomicReferenceArray<>(
			RedisLayout.BUCKETS);

	public TwemproxyScriptExecutor(ScriptExecutor executor, RedisLayout layout, LockTimer timer) {
		this.executor = executor;
		this.layout = layout;
		this.timer = timer;
	}

	/** Records the server that ran a script. */
	void recordServer(ScriptCall call, @Nullable String runId) {
		this.servers.set(slot(call.keys()[0]), (runId != null) ? new ServerIdentity(runId, Deadline.now()) : null);
	}

	@Nullable ServerIdentity seen(int bucket) {
		return this.servers.get(bucket);
	}

	@Override
	public boolean isBlocking() {
		return this.executor.isBlocking();
	}

	@Override
	public void run(ScriptCall call, CallKind kind, Deadline deadline, ReplyHandler<?> operation) {
		this.executor.run(call, kind, deadline, operation);
	}

	@Override
	public void runAll(List<ScriptSubmission> runs, CallKind kind, Deadline deadline) {
		this.executor.runAll(runs, kind, deadline);
	}

	@Override
	public int slot(byte[] key) {
		return RedisLayout.bucket(key);
	}

	@Override
	public @Nullable Object node(int slot) {
		ServerIdentity seen = seen(slot);
		return (seen != null) ? seen.runId() : null;
	}

	@Override
	public OptionalLong disconnects() {
		return this.executor.disconnects();
	}

	@Override
	public StoreCall<Boolean> confirmNotHeld(byte[] lock, Deadline deadline) {
		int bucket = slot(lock);
		SameServerProbe probe = new TwemproxyProbes(this::seen, this.layout, bucket).of(bucket);
		StartCheckRun run = new StartCheckRun(this.executor, () -> probe.next((failure) -> {
			throw failure;
		}), deadline);
		run.begin(this.timer);
		return run.call();
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
