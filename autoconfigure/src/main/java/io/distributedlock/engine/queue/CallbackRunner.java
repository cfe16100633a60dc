package io.distributedlock.engine.queue;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.engine.concurrent.FutureCompletion;
import io.distributedlock.engine.grant.EngineLease;

/**
 * Drives a request without a thread of its own: a step only changes state, or sends a
 * call that does not block, so that it runs on whichever thread causes it. Steps run one
 * after the other: a signal during a step causes another one on the same thread.
 * <p>
 * The future is completed on a callback thread, since code of the application depends on
 * it. A grant whose future is done already is released, and so is one whose completion
 * finds no thread within the call time-out.
 */
public final class CallbackRunner implements RequestRunner {

	private static final Log logger = LogFactory.getLog(CallbackRunner.class);

	/** The runners whose steps follow the one that runs on the current thread. */
	private static final ThreadLocal<@Nullable Deque<CallbackRunner>> RUNNING = new ThreadLocal<>();

	private final EngineContext engine;

	private final RunningRequest request;

	private final long startNanos;

	private final CompletableFuture<LockLease> future = new CompletableFuture<>();

	/** How many steps were requested since the running one began. */
	private final AtomicInteger requested = new AtomicInteger();

	/** Accessed by the running step only, as the field below is. */
	private boolean ended;

	private @Nullable Runnable wakeUp;

	private @Nullable FutureCompletion completion;

	public CallbackRunner(EngineContext engine, Function<RequestRunner, RunningRequest> request) {
		this.engine = engine;
		this.startNanos = engine.nanoTime();
		this.request = request.apply(this);
	}

	public CompletableFuture<LockLease> begin() {
		signal();
		// Whoever completes the future before the engine withdraws the request.
		this.future.whenComplete((lease, ex) -> signal());
		return this.future;
	}

	@Override
	public boolean mayBlock() {
		return false;
	}

	@Override
	public String requester() {
		return "acquireAsync";
	}

	@Override
	public void signal() {
		if (this.requested.getAndIncrement() != 0) {
			return;
		}
		Deque<CallbackRunner> running = RUNNING.get();
		if (running != null) {
			// After the running step, not inside it: thousands may follow each other.
			running.add(this);
			return;
		}
		Deque<CallbackRunner> due = new ArrayDeque<>(4);
		RUNNING.set(due);
		try {
			for (CallbackRunner next = this; next != null; next = due.poll()) {
				next.runSteps();
			}
		}
		finally {
			RUNNING.remove();
		}
	}

	private void runSteps() {
		int handled;
		do {
			handled = this.requested.get();
			try {
				if (!this.ended) {
					stepOnce();
				}
				else if (this.completion != null && this.future.isDone()) {
					this.completion.giveUp();
				}
			}
			catch (RuntimeException | Error ex) {
				logger.error("A step of acquireAsync failed", ex);
			}
		}
		while (this.requested.addAndGet(-handled) != 0);
	}

	private void stepOnce() {
		if (this.wakeUp != null) {
			this.wakeUp.run();
			this.wakeUp = null;
		}
		try {
			if (this.future.isDone()) {
				this.ended = true;
				this.request.abandon();
				return;
			}
			switch (this.request.step()) {
				case ACQUIRED -> complete(this.request.lease());
				case BUSY -> fail(new LockNotAcquiredException(this.request.key(),
						Duration.ofNanos(this.engine.nanoTime() - this.startNanos), this.request.holder()));
				case WAIT -> this.wakeUp = this.engine.environment()
					.schedule(this::signal, this.request.waitUntilNanos() - this.engine.nanoTime());
			}
		}
		catch (RuntimeException | Error ex) {
			abandon(ex);
			fail(ex);
		}
	}

	private void abandon(Throwable reason) {
		try {
			this.request.abandon();
		}
		catch (RuntimeException | Error ex) {
			reason.addSuppressed(ex);
		}
	}

	private void fail(Throwable ex) {
		Runnable completion = () -> this.future.completeExceptionally(ex);
		end(new FutureCompletion(this.engine.environment(), this.engine.settings().callTimeout(), completion,
				completion));
	}

	private void complete(EngineLease lease) {
		end(new FutureCompletion(this.engine.environment(), this.engine.settings().callTimeout(),
				() -> completeWith(lease), () -> {
					lease.closeUnused();
					LockException failure = this.engine.failures().noCallbackThread(this.request.key());
					this.future.completeExceptionally(failure);
				}));
	}

	private void end(FutureCompletion last) {
		this.ended = true;
		this.completion = last;
		last.begin();
	}

	private void completeWith(EngineLease lease) {
		LockLostException loss = lease.loss(LockError.LOST_WHILE_ACQUIRING);
		if (loss != null) {
			this.future.completeExceptionally(loss);
		}
		if (!this.future.complete(lease)) {
			lease.closeUnused();
		}
	}

}
