package io.distributedlock.redis.check;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockException;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.ReplyHandler;
import io.distributedlock.redis.script.ScriptExecutor;
import io.distributedlock.redis.script.ScriptReply;

/**
 * One run of the check of the servers: lists of scripts, each list sent together, until
 * none remains or one fails. Waits for replies only with a client that blocks.
 */
public final class StartCheckRun {

	private final ScriptExecutor executor;

	private final Supplier<List<CheckScript>> steps;

	private final Deadline deadline;

	private final CompletableStoreCall<Boolean> call = new CompletableStoreCall<>();

	/** The scripts that were sent last and have not ended; guarded by the monitor. */
	private final Set<SentStep> open = new LinkedHashSet<>();

	/** Whether no more scripts are sent; guarded by the monitor. */
	private boolean expired;

	private volatile @Nullable Future<?> expiry;

	public StartCheckRun(ScriptExecutor executor, Supplier<List<CheckScript>> steps, Deadline deadline) {
		this.executor = executor;
		this.steps = steps;
		this.deadline = deadline;
	}

	/**
	 * The end of the run: {@code true}, or the {@code LockException} with which it
	 * failed.
	 */
	StoreCall<Boolean> call() {
		return this.call;
	}

	/** Begins the run, and ends it at its deadline. */
	void begin(LockTimer timer) {
		if (!this.executor.isBlocking()) {
			this.expiry = timer.trySchedule(this::expire, this.deadline.remainingNanos());
		}
		begin();
	}

	/**
	 * Runs to the end on the calling thread, or until the deadline.
	 * @throws LockException if the run failed
	 */
	public void complete() {
		CountDownLatch done = new CountDownLatch(1);
		this.call.onDone(done::countDown);
		begin();
		try {
			this.deadline.await(CallKind.ACQUIRE, (nanos) -> done.await(nanos, TimeUnit.NANOSECONDS));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			expire();
			throw RedisErrors.interrupted(ex);
		}
		expire();
		this.call.result();
	}

	private void begin() {
		try {
			List<SentStep> next = this.steps.get().stream().map(SentStep::new).toList();
			synchronized (this) {
				if (this.expired && !next.isEmpty()) {
					throw RedisErrors.notCalledInTime();
				}
				this.open.addAll(next);
			}
			next.forEach(SentStep::send);
			if (next.isEmpty()) {
				end(null);
			}
		}
		catch (RuntimeException ex) {
			end(ex);
		}
	}

	/** Removes a script that has ended; returns whether it was the last one. */
	private synchronized boolean removeLast(SentStep ended) {
		this.open.remove(ended);
		return this.open.isEmpty();
	}

	/** Ends the run without the replies that are missing. */
	void expire() {
		List<SentStep> sent;
		synchronized (this) {
			this.expired = true;
			sent = List.copyOf(this.open);
		}
		List<SentStep> late = sent.stream().filter(SentStep::abandonIfOpen).toList();
		try {
			if (late.isEmpty()) {
				throw RedisErrors.notCalledInTime();
			}
			LockProviderException timedOut = RedisErrors.timedOut(new TimeoutException("No reply in time"));
			late.forEach((one) -> one.step.onFailure().accept(timedOut));
			end(null);
		}
		catch (RuntimeException ex) {
			end(ex);
		}
	}

	private void end(@Nullable RuntimeException failure) {
		Future<?> pending = this.expiry;
		if (pending != null) {
			pending.cancel(false);
		}
		if (failure != null) {
			this.call.fail((failure.getCause() instanceof LockConfigurationException refusal) ? refusal : failure);
		}
		else {
			this.call.complete(true);
		}
	}

	/** A script that was sent. */
	private final class SentStep extends ReplyHandler<Boolean> {

		private final CheckScript step;

		private SentStep(CheckScript step) {
			this.step = step;
		}

		private void send() {
			if (!StartCheckRun.this.call.isDone()) {
				StartCheckRun.this.executor.run(this.step.script(), CallKind.ACQUIRE, StartCheckRun.this.deadline,
						this);
			}
		}

		/** Gives up the script; returns whether that was before its end. */
		private boolean abandonIfOpen() {
			call().abandon();
			return isAbandoned();
		}

		/** Handles the end of the script, on an event loop of the client. */
		private void handle(Runnable action) {
			if (!call().complete(true)) {
				return;
			}
			try {
				action.run();
				if (removeLast(this)) {
					begin();
				}
			}
			catch (RuntimeException ex) {
				end(ex);
			}
		}

		@Override
		public void onReply(ScriptReply reply) {
			handle(() -> this.step.onReply().accept(reply));
		}

		@Override
		public void onFailure(LockProviderException failure) {
			handle(() -> this.step.onFailure().accept(failure));
		}

	}

}
