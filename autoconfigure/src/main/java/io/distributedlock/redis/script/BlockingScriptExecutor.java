package io.distributedlock.redis.script;

import java.util.ArrayList;
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
		ScriptReply reply;
		try {
			reply = runRepeatedly(call, kind, deadline);
		}
		catch (LockProviderException ex) {
			operation.fail(ex);
			return;
		}
		operation.reply(reply);
	}

	private ScriptReply runRepeatedly(ScriptCall call, CallKind kind, Deadline deadline) {
		long pauseNanos = 0;
		while (true) {
			try {
				return runOnce(call, kind, deadline);
			}
			catch (RuntimeException ex) {
				pauseNanos = RepetitionPause.after(pauseNanos, ex, kind, deadline);
				if (pauseNanos == 0) {
					throw RedisErrors.translate(ex, false);
				}
				pause(pauseNanos, kind, ex);
			}
		}
	}

	/** Runs a script in a worker; the caller leaves at its deadline. */
	private ScriptReply runOnce(ScriptCall call, CallKind kind, Deadline deadline) {
		return start(List.of(call), kind, deadline).await(kind).get(0).get();
	}

	private WorkerRun start(List<ScriptCall> calls, CallKind kind, Deadline deadline) {
		if (deadline.isPast()) {
			throw RedisErrors.notCalledInTime();
		}
		WorkerRun run = new WorkerRun(calls, deadline);
		this.workers.execute(kind, this.runner.workerGroup(slot(calls.get(0).keys()[0])), run);
		return run;
	}

	/** Runs the scripts for one node in one worker, those for all nodes at a time. */
	@Override
	public void runAll(List<ScriptSubmission> runs, CallKind kind, Deadline deadline) {
		Map<Object, List<ScriptSubmission>> groups = new LinkedHashMap<>();
		runs.forEach((one) -> {
			Object node = node(slot(one.call().keys()[0]));
			groups.computeIfAbsent((node != null) ? node : one, (absent) -> new ArrayList<>()).add(one);
		});
		List<Runnable> ends = groups.values().stream().map((group) -> startGroup(group, kind, deadline)).toList();
		ends.forEach(Runnable::run);
	}

	/** Starts scripts for one node; returns the wait for their end. */
	private Runnable startGroup(List<ScriptSubmission> group, CallKind kind, Deadline deadline) {
		if (group.size() == 1) {
			return () -> run(group.get(0).call(), kind, deadline, group.get(0).operation());
		}
		List<ScriptCall> calls = group.stream().map(ScriptSubmission::call).toList();
		try {
			WorkerRun run = start(calls, kind, deadline);
			return () -> end(group, run, kind, deadline);
		}
		catch (LockProviderException ex) {
			return () -> group.forEach((one) -> one.operation().fail(ex));
		}
	}

	private void end(List<ScriptSubmission> group, WorkerRun run, CallKind kind, Deadline deadline) {
		List<ScriptOutcome> outcomes;
		try {
			outcomes = run.await(kind);
		}
		catch (RuntimeException ex) {
			outcomes = Collections.nCopies(group.size(), ScriptOutcome.of(ex));
		}
		for (int i = 0; i < group.size(); i++) {
			ScriptSubmission one = group.get(i);
			RuntimeException failure = outcomes.get(i).failure();
			if (failure == null) {
				one.operation().reply(outcomes.get(i).get());
			}
			else if (RepetitionPause.after(0, failure, kind, deadline) > 0) {
				run(one.call(), kind, deadline, one.operation());
			}
			else {
				one.operation().fail(RedisErrors.translate(failure, false));
			}
		}
	}

	private static void pause(long nanos, CallKind kind, RuntimeException ex) {
		Deadline end = Deadline.afterNanos(nanos);
		while (!end.isPast()) {
			if (Thread.currentThread().isInterrupted()) {
				throw kind.interruptible() ? RedisErrors.notCalledBeforeInterrupt(ex)
						: RedisErrors.translate(ex, false);
			}
			LockSupport.parkNanos(end.remainingNanos());
		}
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

		private final List<ScriptCall> calls;

		private final Deadline deadline;

		private final WorkerResult<List<ScriptOutcome>> result = new WorkerResult<>();

		/** Whether the client was given a command. */
		private volatile boolean sent;

		private WorkerRun(List<ScriptCall> calls, Deadline deadline) {
			this.calls = calls;
			this.deadline = deadline;
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
				BlockingScriptClient client = BlockingScriptExecutor.this.runner;
				return (this.calls.size() > 1) ? client.runAll(connection, this.calls, this.deadline, this)
						: List.of(ScriptOutcome.of(client.run(connection, this.calls.get(0), this.deadline, this)));
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
			this.result.complete(List.of(ScriptOutcome.of(reply)));
		}

		@Override
		public void drop(LockProviderException reason) {
			this.result.fail(reason);
		}

	}

}
