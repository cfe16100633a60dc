package io.distributedlock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockLostException;
import io.distributedlock.engine.grant.EngineLease;

/**
 * Work that was started under a lock: the lock is released when its stage is complete,
 * never before. A release does not block the thread that completes the stage.
 *
 * @param <T> the result of the work
 */
final class StageHold<T extends @Nullable Object> {

	private static final Log logger = LogFactory.getLog(StageHold.class);

	private final CompletionStage<T> stage;

	private final EngineLease lease;

	private final CompletableFuture<T> result = new CompletableFuture<>();

	private StageHold(CompletionStage<T> stage, EngineLease lease) {
		this.stage = stage;
		this.lease = lease;
	}

	/**
	 * Lets the stage end the lock.
	 * @return completed as the stage, after the release
	 */
	static <T extends @Nullable Object> CompletableFuture<T> end(CompletionStage<T> stage, EngineLease lease) {
		StageHold<T> locked = new StageHold<>(stage, lease);
		try {
			if (isDone(stage)) {
				// The calling thread may block, and finds the lock released when it goes
				// on.
				lease.close();
				stage.whenComplete(locked::complete);
			}
			else {
				stage.whenComplete(locked::release);
				locked.result.whenComplete((value, ex) -> locked.cancelWork());
			}
		}
		catch (RuntimeException | Error ex) {
			// Nothing else would tell the end of such a stage.
			lease.close();
			throw ex;
		}
		return locked.result;
	}

	private static boolean isDone(CompletionStage<?> stage) {
		try {
			return stage.toCompletableFuture().isDone();
		}
		catch (RuntimeException ex) {
			return false;
		}
	}

	private void release(T value, @Nullable Throwable ex) {
		try {
			this.lease.closeAsync().whenComplete((closed, failure) -> complete(value, ex));
		}
		catch (RuntimeException | Error failure) {
			logger.debug("The release of " + this.lease + " could not begin", failure);
			complete(value, ex);
		}
	}

	/**
	 * Cancels the work of a result that was cancelled. Its end releases the lock, so that
	 * work which cannot be cancelled goes on under the lock.
	 */
	private void cancelWork() {
		if (this.result.isCancelled()) {
			try {
				this.stage.toCompletableFuture().cancel(true);
			}
			catch (RuntimeException ex) {
				logger.debug("The work under " + this.lease + " cannot be cancelled", ex);
			}
		}
	}

	private void complete(T value, @Nullable Throwable ex) {
		if (ex == null) {
			LockLostException loss = this.lease.loss(LockError.LOST);
			if (loss != null) {
				this.result.completeExceptionally(loss);
			}
			else {
				this.result.complete(value);
			}
			return;
		}
		Throwable cause = (ex instanceof CompletionException && ex.getCause() != null) ? ex.getCause() : ex;
		this.lease.addLossTo(cause);
		this.result.completeExceptionally(cause);
	}

}
