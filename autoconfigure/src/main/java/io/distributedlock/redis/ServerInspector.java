package io.distributedlock.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.StoredLock;
import io.distributedlock.redis.check.CheckScript;
import io.distributedlock.redis.check.StartCheckRun;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.Script;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptExecutor;
import io.distributedlock.redis.script.ScriptReply;

/**
 * Reader of the servers for operators: whether they could grant a lock now, and who holds
 * one. Its scripts change nothing.
 */
final class ServerInspector {

	private final ScriptExecutor executor;

	private final RedisLayout layout;

	ServerInspector(ScriptExecutor executor, RedisLayout layout) {
		this.executor = executor;
		this.layout = layout;
	}

	/**
	 * Probes each master that the client knows, and that of each slot of the others:
	 * whether it replies, and accepts writes.
	 * @throws LockException if one cannot grant locks
	 */
	void probe(Duration timeout) {
		List<CheckScript> steps = new ArrayList<>();
		steps.add(new CheckScript(
				new ScriptCall(Script.HEALTH, new byte[][] { noKey(0), this.layout.format() }, new byte[0][]),
				ServerInspector::checkFormat));
		Set<Object> nodes = new HashSet<>();
		for (int bucket = 0; bucket < RedisLayout.BUCKETS; bucket++) {
			int slot = this.executor.slot(this.layout.lastOrder(bucket));
			Object node = this.executor.node(slot);
			if (nodes.add((node != null) ? node : Integer.valueOf(slot)) && bucket > 0) {
				steps.add(new CheckScript(new ScriptCall(Script.HEALTH, new byte[][] { noKey(bucket) }, new byte[0][]),
						(reply) -> {
						}));
			}
		}
		run(steps, timeout);
	}

	private byte[] noKey(int bucket) {
		return ScriptCall.probe(this.layout.lastOrder(bucket)).keys()[0];
	}

	/** A server that was not checked yet, or was emptied, has no format. */
	private static void checkFormat(ScriptReply reply) {
		String format = new String(reply.bytes(0), StandardCharsets.UTF_8);
		if (!format.isEmpty()) {
			RedisLayout.FORMAT.requireSupported("Redis", format);
		}
	}

	/**
	 * Reads the value of a lock.
	 * @throws LockException if the server could not answer
	 */
	List<StoredLock> findAll(LockKey key, Duration timeout) {
		AtomicReference<@Nullable ScriptReply> reply = new AtomicReference<>();
		run(List.of(new CheckScript(
				new ScriptCall(Script.INSPECT, new byte[][] { this.layout.lock(key) }, new byte[0][]), reply::set)),
				timeout);
		ScriptReply read = reply.get();
		return (read != null) ? AttemptReply.stored(read, key) : List.of();
	}

	private void run(List<CheckScript> steps, Duration timeout) {
		Iterator<List<CheckScript>> rounds = List.of(steps).iterator();
		new StartCheckRun(this.executor, () -> rounds.hasNext() ? rounds.next() : List.of(), Deadline.after(timeout))
			.complete();
	}

}
