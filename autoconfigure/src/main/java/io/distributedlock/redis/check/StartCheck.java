package io.distributedlock.redis.check;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptExecutor;
import io.distributedlock.redis.script.ScriptReply;

/**
 * The check of the servers, at start and before the first attempt: commands, format of
 * the layout, clock, version, eviction of keys, and whether one server has all keys that
 * must be together. A step that has succeeded is not repeated before an attempt, so that
 * short time-outs end the check some time. Safe for use by many threads.
 */
public final class StartCheck {

	private static final String SERVER = "The Redis server";

	private final ScriptExecutor executor;

	private final RedisLayout layout;

	private final LockTimer timer;

	private final boolean cluster;

	private final TopologyCheck servers;

	private volatile boolean formatSupported;

	/**
	 * Creates a check that has not begun.
	 * @param servers the check of all servers
	 * @param cluster whether that is by slot: there are several servers
	 */
	public StartCheck(ScriptExecutor executor, RedisLayout layout, LockTimer timer, TopologyCheck servers,
			boolean cluster) {
		this.executor = executor;
		this.layout = layout;
		this.timer = timer;
		this.cluster = cluster;
		this.servers = servers;
	}

	/** Whether an attempt may be sent. */
	boolean isPassed(ScriptCall attempt) {
		return this.formatSupported && this.servers.isDone(slot(attempt));
	}

	/** Returns the slot of an attempt, the same for all outside a cluster. */
	int slot(ScriptCall attempt) {
		return this.cluster ? this.executor.slot(attempt.keys()[0]) : 0;
	}

	/**
	 * Begins what no check has done yet of what is required for attempts at the locks of
	 * a slot.
	 * @param deadline the end of the check, of which a later one does the rest
	 * @return the check, which waits for the server only with a client that blocks, and
	 * fails with a {@code LockException}
	 */
	StoreCall<Boolean> begin(int slot, Deadline deadline) {
		StartCheckRun run = newRun(false, this.servers.ofSlot(slot), deadline);
		run.begin(this.timer);
		return run.call();
	}

	/**
	 * Checks that the server replies, and does what no check has done yet. A read-only
	 * replica refuses the write of the format.
	 * @throws LockProviderException if the server does not reply or refuses writes
	 * @throws LockConfigurationException if the servers cannot keep locks
	 */
	public void check(Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		newRun(true, this.servers.ofAll(), deadline).complete();
	}

	private StartCheckRun newRun(boolean askAgain, Supplier<List<CheckScript>> others, Deadline deadline) {
		AtomicBoolean asks = new AtomicBoolean(askAgain);
		return new StartCheckRun(this.executor, () -> {
			if (asks.getAndSet(false) || !this.formatSupported) {
				return List.of(formatStep());
			}
			return others.get();
		}, deadline);
	}

	private CheckScript formatStep() {
		return CheckScript.ofServer(SERVER,
				new byte[][] { RedisLayout.bytes(this.layout.noKey(0)), this.layout.format() }, this::checkFormat);
	}

	private void checkFormat(ScriptReply reply) {
		ServerInfo info = ServerInfo.of(reply, 2);
		info.requireSuitable(SERVER, reply);
		RedisLayout.FORMAT.requireSupported("Redis", new String(reply.bytes(4), StandardCharsets.UTF_8));
		if (!this.cluster) {
			info.warnOfEviction(SERVER);
		}
		this.formatSupported = true;
	}

}
