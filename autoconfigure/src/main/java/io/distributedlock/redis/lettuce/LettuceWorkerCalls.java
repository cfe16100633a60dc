package io.distributedlock.redis.lettuce;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.redis.lettuce.LettucePipeline.Run;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.ReplicaRequirement;
import io.distributedlock.redis.script.Script;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptOutcome;
import io.distributedlock.redis.script.WorkerPools;
import io.distributedlock.redis.script.WorkerTask;

/**
 * Runs scripts on other connections of Lettuce than the shared one, in workers, which
 * wait for the replies: scripts that replicas have to acknowledge, all scripts of a
 * factory that shares no connection, and those to a node that does not reply on it. The
 * scripts of one renewal for one node are sent together.
 */
final class LettuceWorkerCalls implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(LettuceWorkerCalls.class);

	private final boolean shared;

	private final UnresponsiveSlotTracker unresponsive;

	private final LettuceConnectionPool connections;

	private final LettucePipeline pipeline;

	private final WorkerPools workers;

	private final boolean replicated;

	LettuceWorkerCalls(LettuceConnectionFactory factory, ReplicaRequirement replicas, DisconnectCounter disconnects,
			WorkerPools workers, LockTimer timer) {
		this.shared = factory.getShareNativeConnection();
		this.replicated = replicas.isPresent();
		this.unresponsive = new UnresponsiveSlotTracker(timer, this::closeUnneeded);
		this.connections = new LettuceConnectionPool(factory, this.replicated, this::isPoolNeeded);
		this.pipeline = new LettucePipeline(replicas, disconnects);
		this.workers = workers;
	}

	/** Whether a call cannot run on the shared connection. */
	boolean isNeededFor(ScriptCall call, int slot) {
		// The check at the start shows whether these connections can be opened.
		return !this.shared || this.pipeline.isReplicated(call) || (this.replicated && call.script() == Script.CHECK)
				|| this.unresponsive.contains(slot);
	}

	/**
	 * Runs the scripts of a slot until a probe on the shared connection ends.
	 * @param probe sends a command on the shared connection
	 * @param broken whether Lettuce opens that connection again at present
	 */
	void replaceShared(int slot, Supplier<? extends CompletionStage<?>> probe, BooleanSupplier broken) {
		this.unresponsive.add(slot, probe, broken);
	}

	/** Leaves all slots to the shared connection, since it is a new one. */
	void restoreShared() {
		this.unresponsive.clear();
	}

	private boolean isPoolNeeded() {
		return !this.shared || this.replicated || !this.unresponsive.isEmpty();
	}

	/**
	 * Runs scripts together when a worker is free for them.
	 * @param node the node, or {@code null} if it is not known or the only one
	 * @throws LockProviderException if there is no worker
	 */
	void submit(@Nullable Object node, CallKind kind, Deadline deadline, List<? extends Run> runs) {
		this.workers.execute(kind, node, new WorkerTask() {

			@Override
			public void run() {
				List<ScriptOutcome> outcomes = deadline.isPast()
						? Collections.nCopies(runs.size(), ScriptOutcome.of(RedisErrors.notCalledInTime()))
						: send(node, kind, deadline, runs);
				for (int i = 0; i < runs.size(); i++) {
					runs.get(i).onOutcome(outcomes.get(i));
				}
			}

			@Override
			public void drop(LockProviderException reason) {
				runs.forEach((run) -> run.onOutcome(ScriptOutcome.of(reason)));
			}

		});
	}

	private List<ScriptOutcome> send(@Nullable Object node, CallKind kind, Deadline deadline,
			List<? extends Run> runs) {
		try {
			return this.connections.use(node, (connection) -> this.pipeline.run(connection, runs, kind, deadline));
		}
		catch (RuntimeException ex) {
			return Collections.nCopies(runs.size(), ScriptOutcome.of(ex));
		}
		catch (Error ex) {
			logger.error("A call to Redis failed", ex);
			return Collections.nCopies(runs.size(), ScriptOutcome.of(new IllegalStateException(ex)));
		}
	}

	/** Runs when the shared connection replies again. */
	private void closeUnneeded() {
		if (!isPoolNeeded()) {
			this.connections.closeIdle();
		}
	}

	@Override
	public void close() {
		this.connections.close();
	}

}
