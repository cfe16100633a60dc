package io.distributedlock.support;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockLease;
import io.distributedlock.LockNotAcquiredException;

/**
 * A waiter without a thread: its steps borrow one of the I/O threads, one step at a time,
 * when it is signalled, when its time has come, or when its future was cancelled.
 */
final class AsyncWaiter extends Waiter {

	private final LockEngine engine;

	private final Acquisition acquisition;

	private final long start = System.nanoTime();

	private final CompletableFuture<LockLease> future = new CompletableFuture<>();

	/**
	 * How often a step was asked for since the last began; only who raises it from 0
	 * runs.
	 */
	private final AtomicInteger asked = new AtomicInteger();

	/** Belongs to the running step, as does the timer's signal. */
	private boolean ended;

	private @Nullable Future<?> wakeUp;

	AsyncWaiter(LockEngine engine, Function<Waiter, Acquisition> acquisition) {
		this.engine = engine;
		this.acquisition = acquisition.apply(this);
	}

	CompletableFuture<LockLease> begin() {
		wake();
		this.future.whenComplete((lease, ex) -> {
			if (ex != null) {
				wake();
			}
		});
		return this.future;
	}

	@Override
	void wake() {
		if (this.asked.getAndIncrement() == 0) {
			try {
				this.engine.io().execute(this::run);
			}
			catch (RejectedExecutionException ex) {
				this.ended = true;
				this.future.completeExceptionally(this.engine.shuttingDown(this.acquisition.key()));
			}
		}
	}

	private void run() {
		int answered;
		do {
			answered = this.asked.get();
			if (!this.ended) {
				look();
			}
		}
		while (this.asked.addAndGet(-answered) != 0);
	}

	private void look() {
		if (this.wakeUp != null) {
			this.wakeUp.cancel(false);
			this.wakeUp = null;
		}
		try {
			if (this.future.isDone()) {
				this.ended = true;
				this.acquisition.abandon();
				return;
			}
			switch (this.acquisition.step()) {
				case ACQUIRED -> end(() -> complete(this.acquisition.lease()));
				case BUSY ->
					end(() -> this.future.completeExceptionally(new LockNotAcquiredException(this.acquisition.key(),
							Duration.ofNanos(System.nanoTime() - this.start), this.acquisition.holder())));
				case WAIT -> this.wakeUp = this.engine.timer()
					.schedule(this::wake, Duration.ofNanos(this.acquisition.waitUntil() - System.nanoTime()));
			}
		}
		catch (RuntimeException | Error ex) {
			this.acquisition.abandon();
			end(() -> this.future.completeExceptionally(ex));
		}
	}

	/**
	 * What depends on the future is the application's, and must not hold an I/O thread.
	 */
	private void end(Runnable completion) {
		this.ended = true;
		try {
			this.engine.events().complete(completion);
		}
		catch (RejectedExecutionException ex) {
			completion.run();
		}
	}

	private void complete(JoinableLease lease) {
		if (!this.future.complete(lease)) {
			try {
				this.engine.io().execute(lease::close);
			}
			catch (RejectedExecutionException ex) {
				lease.close();
			}
		}
	}

}
