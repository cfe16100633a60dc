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
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.RedisTimer;
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

	private final WaitingRenewals renewals = new WaitingRenewals();

	LettuceWorkerCalls(LettuceConnectionFactory factory, ReplicaRequirement replicas, DisconnectCounter disconnects,
			WorkerPools workers, RedisTimer timer) {
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
	 * Runs a script when a worker is free for it.
	 * @param node the node, or {@code null} if it is not known or the only one
	 * @throws LockProviderException if there is no worker
	 */
	void submit(@Nullable Object node, LettuceWorkerRun run) {
		if (run.kind() != CallKind.RENEWAL) {
			this.workers.execute(run.kind(), node, task(() -> runAll(node, List.of(run)), () -> true, run));
			return;
		}
		this.renewals.add(node, run);
		try {
			this.workers.execute(run.kind(), node,
					task(() -> runAll(node, this.renewals.removeAll(node, run.deadline())),
							() -> this.renewals.remove(node, run), run));
		}
		catch (LockProviderException ex) {
			if (this.renewals.remove(node, run)) {
				throw ex;
			}
		}
	}

	private static WorkerTask task(Runnable action, BooleanSupplier waits, LettuceWorkerRun run) {
		return new WorkerTask() {

			@Override
			public void run() {
				action.run();
			}

			@Override
			public void drop(LockProviderException reason) {
				if (waits.getAsBoolean()) {
					run.end(ScriptOutcome.of(reason));
				}
			}

		};
	}

	/** Runs scripts in the current thread, a worker. */
	private void runAll(@Nullable Object node, List<LettuceWorkerRun> runs) {
		if (runs.isEmpty()) {
			return;
		}
		List<ScriptOutcome> outcomes;
		if (runs.get(0).deadline().isPast()) {
			outcomes = Collections.nCopies(runs.size(), ScriptOutcome.of(RedisErrors.notCalledInTime()));
		}
		else {
			outcomes = send(node, runs);
		}
		for (int i = 0; i < runs.size(); i++) {
			runs.get(i).end(outcomes.get(i));
		}
	}

	private List<ScriptOutcome> send(@Nullable Object node, List<LettuceWorkerRun> runs) {
		try {
			return this.connections.use(node,
					(connection) -> this.pipeline.run(connection, runs.stream().map(LettuceWorkerRun::call).toList(),
							runs, runs.get(0).kind(), runs.get(0).deadline()));
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
