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
 * A waiter without a thread of its own. Each step runs on one of the I/O threads: after a
 * signal, at the end of the wait, or when the future was cancelled.
 */
final class AsyncWaiter extends Waiter {

	private final LockEngine engine;

	private final Acquisition acquisition;

	private final long start = System.nanoTime();

	private final CompletableFuture<LockLease> future = new CompletableFuture<>();

	/**
	 * How many steps were requested since the last one began. The call that raises it
	 * from 0 starts a run.
	 */
	private final AtomicInteger requested = new AtomicInteger();

	/** Accessed by the running step only, as the signal of the timer is. */
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
		if (this.requested.getAndIncrement() == 0) {
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
		int handled;
		do {
			handled = this.requested.get();
			if (!this.ended) {
				stepOnce();
			}
		}
		while (this.requested.addAndGet(-handled) != 0);
	}

	private void stepOnce() {
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
					.schedule(this::wake, Duration.ofNanos(this.acquisition.waitUntilNanos() - System.nanoTime()));
			}
		}
		catch (RuntimeException | Error ex) {
			this.acquisition.abandon();
			end(() -> this.future.completeExceptionally(ex));
		}
	}

	/**
	 * Completes the future on another thread: code of the application depends on it, and
	 * must not occupy an I/O thread.
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
