package io.distributedlock.support;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockLostException;

/**
 * Work that was started under a lock: the lock is released when its stage is complete, or
 * when the result is cancelled. A release never blocks the thread that completes the
 * stage.
 *
 * @param <T> the result of the work
 */
final class LockedStage<T extends @Nullable Object> {

	private final CompletionStage<T> stage;

	private final JoinableLease lease;

	private final CompletableFuture<T> result = new CompletableFuture<>();

	private final AtomicBoolean ended = new AtomicBoolean();

	private LockedStage(CompletionStage<T> stage, JoinableLease lease) {
		this.stage = stage;
		this.lease = lease;
	}

	/**
	 * Lets the stage end the lock.
	 * @return completed as the stage, after the release
	 */
	static <T extends @Nullable Object> CompletableFuture<T> end(CompletionStage<T> stage, JoinableLease lease) {
		LockedStage<T> locked = new LockedStage<>(stage, lease);
		if (isDone(stage)) {
			// The calling thread may block, and finds the lock released when it goes on.
			lease.close();
			stage.whenComplete(locked::complete);
		}
		else {
			stage.whenComplete(locked::release);
			locked.result.whenComplete((value, ex) -> locked.cancelled());
		}
		return locked.result;
	}

	private static boolean isDone(CompletionStage<?> stage) {
		try {
			return stage.toCompletableFuture().isDone();
		}
		catch (UnsupportedOperationException ex) {
			return false;
		}
	}

	private void release(T value, @Nullable Throwable ex) {
		if (this.ended.compareAndSet(false, true)) {
			this.lease.closeAsync().whenComplete((closed, failure) -> complete(value, ex));
		}
	}

	/** A result that somebody else has completed leaves the work without a user. */
	private void cancelled() {
		if (this.ended.compareAndSet(false, true)) {
			cancel(this.stage);
			this.lease.closeAsync();
		}
	}

	static void cancel(CompletionStage<?> stage) {
		try {
			stage.toCompletableFuture().cancel(true);
		}
		catch (UnsupportedOperationException ex) {
			// The stage cannot be cancelled; its work goes on without the lock.
		}
	}

	private void complete(T value, @Nullable Throwable ex) {
		if (ex == null) {
			try {
				this.lease.throwLoss(LockError.LOST);
				this.result.complete(value);
			}
			catch (LockLostException loss) {
				this.result.completeExceptionally(loss);
			}
			return;
		}
		Throwable cause = (ex instanceof CompletionException && ex.getCause() != null) ? ex.getCause() : ex;
		this.lease.addLossTo(cause);
		this.result.completeExceptionally(cause);
	}

}
