package io.distributedlock.redis.script;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

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
public final class BlockingScriptExecutor implements ScriptExecutor {

	private final RedisConnectionFactory factory;

	private final BlockingScriptClient runner;

	private final WorkerPools workers = new WorkerPools();

	public BlockingScriptExecutor(RedisConnectionFactory factory, BlockingScriptClient runner) {
		this.factory = factory;
		this.runner = runner;
	}

	@Override
	public boolean isBlocking() {
		return true;
	}

	@Override
	public void run(ScriptCall call, CallKind kind, Deadline deadline, ReplyHandler<?> operation) {
		runAll(List.of(new ScriptSubmission(call, operation)), kind, deadline);
	}

	/** Runs the scripts for one node in one worker, those for all nodes at a time. */
	@Override
	public void runAll(List<ScriptSubmission> runs, CallKind kind, Deadline deadline) {
		start(runs, kind, deadline).forEach((run) -> end(run, kind, deadline));
	}

	/**
	 * Awaits the end of a run, and runs those of its scripts again, after a pause, that
	 * may succeed then.
	 */
	private void end(WorkerRun run, CallKind kind, Deadline deadline) {
		List<WorkerRun> open = List.of(run);
		long pauseNanos = 0;
		while (!open.isEmpty()) {
			Map<ScriptSubmission, RuntimeException> refused = new LinkedHashMap<>();
			long nextNanos = 0;
			for (WorkerRun each : open) {
				nextNanos = Math.max(nextNanos, each.end(kind, pauseNanos, refused));
			}
			if (!pause(nextNanos)) {
				refused.forEach((one, ex) -> one.operation()
					.fail(kind.interruptible() ? RedisErrors.notCalledBeforeInterrupt(ex)
							: RedisErrors.translate(ex, false)));
				return;
			}
			pauseNanos = nextNanos;
			open = start(refused.keySet(), kind, deadline);
		}
	}

	private List<WorkerRun> start(Collection<ScriptSubmission> runs, CallKind kind, Deadline deadline) {
		Map<Object, List<ScriptSubmission>> groups = new LinkedHashMap<>();
		runs.forEach((one) -> {
			Object node = node(slot(one.call().keys()[0]));
			groups.computeIfAbsent((node != null) ? node : one, (absent) -> new ArrayList<>()).add(one);
		});
		return groups.values().stream().map((group) -> {
			WorkerRun run = new WorkerRun(group, deadline);
			try {
				this.workers.execute(kind, this.runner.workerGroup(slot(group.get(0).call().keys()[0])), run);
			}
			catch (LockProviderException ex) {
				run.drop(ex);
			}
			return run;
		}).toList();
	}

	/** Returns whether the pause has ended without an interrupt. */
	private static boolean pause(long nanos) {
		Deadline end = Deadline.afterNanos(nanos);
		while (!end.isPast()) {
			if (Thread.currentThread().isInterrupted()) {
				return false;
			}
			LockSupport.parkNanos(end.remainingNanos());
		}
		return true;
	}

	@Override
	public int slot(byte[] key) {
		return this.runner.slot(key);
	}

	@Override
	public @Nullable Object node(int slot) {
		return this.runner.node(slot);
	}

	/**
	 * Returns the same client always: one that blocks keeps the connection of a
	 * subscription open, also after the factory was stopped.
	 */
	@Override
	public Object client() {
		return this.factory;
	}

	@Override
	public void close() {
		this.workers.close();
	}

	/**
	 * One use of a connection by a worker, whose caller may have left before a connection
	 * is there.
	 */
	private final class WorkerRun implements WorkerTask, SendGuard {

		private final List<ScriptSubmission> group;

		private final Deadline deadline;

		private final WorkerResult<List<ScriptOutcome>> result = new WorkerResult<>();

		/** Whether the client was given a command. */
		private volatile boolean sent;

		private WorkerRun(List<ScriptSubmission> group, Deadline deadline) {
			this.group = group;
			this.deadline = deadline;
		}

		/**
		 * Awaits the end of the run, and ends the operations.
		 * @param refused receives those that are to be repeated, with their failures
		 * @return the pause before that, 0 if there are none
		 */
		private long end(CallKind kind, long lastNanos, Map<ScriptSubmission, RuntimeException> refused) {
			List<ScriptOutcome> outcomes;
			try {
				outcomes = await(kind);
			}
			catch (RuntimeException ex) {
				outcomes = Collections.nCopies(this.group.size(), ScriptOutcome.of(ex));
			}
			long pauseNanos = 0;
			for (int i = 0; i < this.group.size(); i++) {
				ScriptSubmission one = this.group.get(i);
				RuntimeException failure = outcomes.get(i).failure();
				long nanos = (failure != null) ? RepetitionPause.after(lastNanos, failure, kind, this.deadline) : 0;
				if (failure == null) {
					one.operation().reply(outcomes.get(i).get());
				}
				else if (nanos > 0) {
					refused.put(one, failure);
					pauseNanos = nanos;
				}
				else {
					one.operation().fail(RedisErrors.translate(failure, false));
				}
			}
			return pauseNanos;
		}

		/** Awaits the end of the run; the caller has left if this throws before it. */
		private List<ScriptOutcome> await(CallKind kind) {
			try {
				if (!this.result.await(this.deadline, kind)) {
					throw this.sent ? RedisErrors.timedOut(kind) : RedisErrors.notCalledInTime();
				}
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw this.sent ? RedisErrors.interrupted(ex) : RedisErrors.notCalledBeforeInterrupt(ex);
			}
			if (this.result.failure() instanceof RuntimeException failure) {
				throw failure;
			}
			return this.result.value();
		}

		@Override
		public void run() {
			if (this.result.isAbandoned()) {
				return;
			}
			try {
				this.result.complete(runOnConnection());
			}
			catch (RuntimeException ex) {
				this.result.fail(this.sent ? ex : RedisErrors.notSent(ex));
			}
			catch (Error ex) {
				this.result.fail(new IllegalStateException(ex));
				throw ex;
			}
		}

		private List<ScriptOutcome> runOnConnection() {
			try (RedisConnection connection = BlockingScriptExecutor.this.factory.getConnection()) {
				return BlockingScriptExecutor.this.runner.run(connection,
						this.group.stream().map(ScriptSubmission::call).toList(), this.deadline, this);
			}
		}

		/**
		 * Records that the command is about to be sent. In this order, either the caller
		 * that leaves sees that it may have been sent, or it is not sent.
		 */
		@Override
		public void beginSend() {
			if (this.deadline.isPast()) {
				throw RedisErrors.notCalledInTime();
			}
			this.sent = true;
			if (this.result.isAbandoned()) {
				throw RedisErrors.notCalledInTime();
			}
		}

		@Override
		public void onEarlyReply(ScriptReply reply) {
			if (this.group.size() == 1) {
				this.result.complete(List.of(ScriptOutcome.of(reply)));
			}
		}

		@Override
		public void drop(LockProviderException reason) {
			this.result.fail(reason);
		}

	}

}
