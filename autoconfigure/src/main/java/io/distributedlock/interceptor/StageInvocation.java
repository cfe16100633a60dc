package io.distributedlock.interceptor;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockCallback;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockOperations;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.LossRegistration;

/**
 * One call of a locked method that returns a stage. The calling thread waits for the lock
 * and starts the work; the lock is held until the stage is complete.
 */
final class StageInvocation implements LockCallback<@Nullable CompletionStage<@Nullable Object>, Throwable> {

	private static final Log logger = LogFactory.getLog(StageInvocation.class);

	private final LockedMethod method;

	private final MethodInvocation invocation;

	private boolean started;

	private @Nullable CompletionStage<@Nullable Object> stage;

	private volatile @Nullable CompletableFuture<@Nullable Object> held;

	/** The loss for which the work was cancelled. */
	private volatile @Nullable Throwable interruption;

	StageInvocation(LockedMethod method, MethodInvocation invocation) {
		this.method = method;
		this.invocation = invocation;
	}

	@Nullable Object run(LockOperations operations) throws Throwable {
		this.method.requireBlockingThread();
		LockRequest request = this.method.request(this.invocation);
		CompletableFuture<@Nullable Object> work;
		try {
			work = operations.executeAsync(request, this);
		}
		catch (LockNotAcquiredException | LockProviderException ex) {
			if (this.started) {
				throw ex;
			}
			return this.method.react(this.invocation, ex);
		}
		catch (LockLostException ex) {
			if (!this.started || this.stage != null || !this.method.ignoresLoss()) {
				throw this.started ? LossExceptions.remember(ex, this.invocation) : ex;
			}
			return null;
		}
		return (work != null) ? result(work) : null;
	}

	/** Returns what the caller gets: cancelling it cancels the work. */
	private CompletableFuture<@Nullable Object> result(CompletableFuture<@Nullable Object> work) {
		CompletableFuture<@Nullable Object> result = new CompletableFuture<>();
		work.whenComplete((value, ex) -> complete(result, value, ex));
		result.whenComplete((value, ex) -> {
			if (result.isCancelled()) {
				work.cancel(true);
			}
		});
		this.held = work;
		if (this.interruption != null) {
			work.cancel(true);
		}
		return result;
	}

	private void complete(CompletableFuture<@Nullable Object> result, @Nullable Object value, @Nullable Throwable ex) {
		Throwable loss = this.interruption;
		CompletionStage<@Nullable Object> done = this.stage;
		if (ex instanceof CancellationException && loss != null) {
			end(result, null, loss);
		}
		else if (ex instanceof LockLostException && this.method.ignoresLoss() && done != null) {
			// It is complete: the loss was found after that.
			done.whenComplete((own, failure) -> end(result, own, failure));
		}
		else {
			end(result, value, ex);
		}
	}

	private void end(CompletableFuture<@Nullable Object> result, @Nullable Object value, @Nullable Throwable ex) {
		if (ex != null) {
			result.completeExceptionally(cause(ex));
			return;
		}
		try {
			result.complete(this.method.requireFinished(value));
		}
		catch (RuntimeException | Error failure) {
			result.completeExceptionally(failure);
		}
	}

	@Override
	public @Nullable CompletionStage<@Nullable Object> doWithLock(LockLease lease) throws Throwable {
		this.started = true;
		@SuppressWarnings("unchecked")
		CompletionStage<@Nullable Object> work = (CompletionStage<@Nullable Object>) this.method
			.proceed(this.invocation, lease);
		this.stage = work;
		if (work != null && this.method.interruptsWhenLost()) {
			LossRegistration registration = lease.onLost(() -> interrupt(work, lease));
			work.whenComplete((value, ex) -> registration.close());
		}
		return work;
	}

	/** Cancels the work, and tells the caller, also if the stage cannot be cancelled. */
	private void interrupt(CompletionStage<?> work, LockLease lease) {
		this.interruption = LossExceptions.of(lease);
		try {
			work.toCompletableFuture().cancel(true);
		}
		catch (UnsupportedOperationException ex) {
			logger.debug("The stage of " + this.invocation.getMethod() + " cannot be cancelled", ex);
		}
		CompletableFuture<@Nullable Object> present = this.held;
		if (present != null) {
			present.cancel(true);
		}
	}

	private static Throwable cause(Throwable ex) {
		return (ex instanceof CompletionException && ex.getCause() != null) ? ex.getCause() : ex;
	}

}
