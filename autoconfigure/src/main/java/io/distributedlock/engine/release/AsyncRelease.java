package io.distributedlock.engine.release;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.engine.concurrent.BoundedCall;
import io.distributedlock.engine.concurrent.EngineEnvironment;
import io.distributedlock.engine.concurrent.EngineEnvironment.Work;
import io.distributedlock.engine.concurrent.FutureCompletion;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * Release that no thread waits for, and whose end is told. It ends once: with the store's
 * answer, or as unknown when the call time-out has passed, the command could not be sent,
 * or there was no thread for it.
 */
public final class AsyncRelease {

	private static final Log logger = LogFactory.getLog(AsyncRelease.class);

	private final EngineEnvironment environment;

	private final Duration timeout;

	private final Supplier<StoreCall<ReleaseOutcome>> command;

	private final Consumer<ReleaseOutcome> onEnd;

	private final CompletableFuture<Void> told = new CompletableFuture<>();

	private final AtomicBoolean ended = new AtomicBoolean();

	private volatile Runnable cancelBound = () -> {
	};

	/**
	 * Creates a release that has not begun.
	 * @param command sends the release
	 * @param onEnd receives the outcome, before the end is told
	 */
	public AsyncRelease(EngineEnvironment environment, Duration timeout, Supplier<StoreCall<ReleaseOutcome>> command,
			Consumer<ReleaseOutcome> onEnd) {
		this.environment = environment;
		this.timeout = timeout;
		this.command = command;
		this.onEnd = onEnd;
	}

	/**
	 * Sends the release.
	 * @param blocking whether the command blocks, so that it needs a thread
	 * @return completed on a callback thread, or without one if all are occupied for the
	 * call time-out; does not fail
	 */
	public CompletableFuture<Void> begin(boolean blocking) {
		if (!blocking) {
			send();
			return this.told;
		}
		try {
			this.cancelBound = this.environment.schedule(() -> end(ReleaseOutcome.UNKNOWN), this.timeout.toNanos());
			this.environment.executor(Work.ASYNC_RELEASES).execute(this::send);
		}
		catch (RuntimeException | Error ex) {
			fail(ex);
		}
		return this.told;
	}

	private void send() {
		// Otherwise it is repeated already.
		if (!this.ended.get()) {
			try {
				BoundedCall.begin(this.command.get(), this.environment, this.timeout, (call) -> end(outcome(call)));
			}
			catch (RuntimeException | Error ex) {
				fail(ex);
			}
		}
	}

	private void fail(Throwable ex) {
		logger.debug("A release could not be sent", ex);
		end(ReleaseOutcome.UNKNOWN);
	}

	private static ReleaseOutcome outcome(@Nullable StoreCall<ReleaseOutcome> call) {
		try {
			return (call != null) ? call.result() : ReleaseOutcome.UNKNOWN;
		}
		catch (RuntimeException | Error ex) {
			logger.debug("A release has failed", ex);
			return ReleaseOutcome.UNKNOWN;
		}
	}

	private void end(ReleaseOutcome outcome) {
		if (this.ended.compareAndSet(false, true)) {
			this.cancelBound.run();
			try {
				this.onEnd.accept(outcome);
			}
			finally {
				new FutureCompletion(this.environment, this.timeout, () -> this.told.complete(null),
						this::completeElsewhere)
					.begin();
			}
		}
	}

	/** Completes the future on the threads for loss actions. */
	private void completeElsewhere() {
		try {
			this.environment.executor(Work.LOSS_ACTIONS).execute(() -> this.told.complete(null));
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			this.told.complete(null);
		}
	}

}
