package io.distributedlock.redis;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.StoreCall;

/**
 * One run of the check of the servers: lists of scripts, each list sent together, until
 * none remains or one fails. Waits for replies only with a client that blocks.
 */
final class ServerCheckRun {

	private final ScriptExecutor executor;

	private final Supplier<List<CheckStep>> steps;

	private final Deadline deadline;

	private final CompletableStoreCall<Boolean> call = new CompletableStoreCall<>();

	/** The scripts that were sent last; guarded by the monitor. */
	private List<Sent> sent = List.of();

	/** Whether no more scripts are sent; guarded by the monitor. */
	private boolean expired;

	private volatile @Nullable Future<?> expiry;

	ServerCheckRun(ScriptExecutor executor, Supplier<List<CheckStep>> steps, Deadline deadline) {
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
	void begin(RedisTimer timer) {
		if (!this.executor.isBlocking()) {
			this.expiry = timer.schedule(this::expire, this.deadline.remainingNanos());
		}
		begin();
	}

	/** Begins the run, which the caller ends at its deadline. */
	void begin() {
		try {
			List<Sent> next = this.steps.get().stream().map(Sent::new).toList();
			if (next.isEmpty()) {
				end(null);
			}
			else if (isBegun(next)) {
				AtomicInteger open = new AtomicInteger(next.size());
				next.forEach((one) -> one.send(open));
			}
			else {
				end(RedisErrors.notCalledInTime());
			}
		}
		catch (RuntimeException ex) {
			end(ex);
		}
	}

	private synchronized boolean isBegun(List<Sent> next) {
		if (!this.expired) {
			this.sent = next;
		}
		return !this.expired;
	}

	/** Ends the run without the replies that are missing. */
	void expire() {
		List<Sent> last;
		synchronized (this) {
			this.expired = true;
			last = this.sent;
		}
		List<Sent> open = last.stream().filter(Sent::abandonIfOpen).toList();
		try {
			if (open.isEmpty()) {
				throw RedisErrors.notCalledInTime();
			}
			LockProviderException timedOut = RedisErrors.timedOut(new TimeoutException("No reply in time"));
			open.forEach((one) -> one.step.onFailure().accept(timedOut));
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
			this.call.fail(failure);
		}
		else {
			this.call.complete(true);
		}
	}

	/** A script that was sent. */
	private final class Sent extends ScriptOperation<ScriptReply> {

		private final CheckStep step;

		private Sent(CheckStep step) {
			this.step = step;
		}

		private void send(AtomicInteger open) {
			if (!ServerCheckRun.this.call.isDone()) {
				call().onDone(() -> handle(open));
				ServerCheckRun.this.executor.run(this.step.script(), CallKind.ACQUIRE, ServerCheckRun.this.deadline,
						this);
			}
		}

		/** Gives up the script; returns whether that was before its end. */
		private boolean abandonIfOpen() {
			call().abandon();
			return isAbandoned();
		}

		/** Handles the end of the script, on an event loop of the client. */
		private void handle(AtomicInteger open) {
			try {
				reply().ifPresent(this.step.onReply());
				if (open.decrementAndGet() == 0) {
					begin();
				}
			}
			catch (RuntimeException ex) {
				end(ex);
			}
		}

		private Optional<ScriptReply> reply() {
			try {
				return Optional.of(call().result());
			}
			catch (LockProviderException ex) {
				this.step.onFailure().accept(ex);
				return Optional.empty();
			}
		}

		@Override
		void onReply(ScriptReply reply) {
			call().complete(reply);
		}

		@Override
		void onFailure(LockProviderException failure) {
			call().fail(failure);
		}

	}

}
