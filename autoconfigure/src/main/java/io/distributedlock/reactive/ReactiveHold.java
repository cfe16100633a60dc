package io.distributedlock.reactive;

import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import io.distributedlock.LockContext;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.engine.grant.EngineLease;

/**
 * The lock of one subscription. Whatever order the grant and the end of the subscription
 * come in, the lock is released: a grant that finds the subscription ended is closed at
 * once.
 */
final class ReactiveHold {

	/**
	 * The state after the body was called: the end of its publisher releases the lock.
	 */
	private static final Object STARTED = new Object();

	/** The state after the end of the subscription, if that came first. */
	private static final Object ENDED = new Object();

	/** Nothing, the held lock, {@link #STARTED} or {@link #ENDED}. */
	private final AtomicReference<@Nullable Object> state = new AtomicReference<>();

	private final boolean lossIgnored;

	/** Whether the body was not called because its lock was lost before. */
	private volatile boolean refused;

	/** The loss with which the release has failed. */
	private volatile @Nullable LockLostException loss;

	ReactiveHold(boolean lossIgnored) {
		this.lossIgnored = lossIgnored;
	}

	/** Emits the lock once it is acquired; a cancellation withdraws the request. */
	Mono<LockLease> acquired(Supplier<CompletableFuture<LockLease>> acquisition) {
		return Mono.create((sink) -> {
			CompletableFuture<LockLease> future = Objects.requireNonNull(acquisition.get(),
					"LockOperations.acquireAsync(LockRequest, List) has returned null: a mock needs a stub of it");
			future.whenComplete((lease, ex) -> {
				if (lease == null) {
					sink.error((ex instanceof CompletionException && ex.getCause() != null) ? ex.getCause() : ex);
				}
				else if (this.state.compareAndSet(null, lease)) {
					sink.success(lease);
				}
				else {
					closeUnused(lease);
				}
			});
			sink.onCancel(() -> future.cancel(false));
		});
	}

	/** Ends the subscription; closes a lock under which no body has started. */
	void end() {
		if (this.state.get() != STARTED && this.state.getAndSet(ENDED) instanceof LockLease lease) {
			closeUnused(lease);
		}
	}

	/** Releases a lock under which no body has started, and will not. */
	private static CompletableFuture<Void> closeUnused(LockLease lease) {
		return (lease instanceof EngineLease own) ? own.closeUnusedAsync() : lease.closeAsync();
	}

	<T> Flux<T> within(LockLease lease, Supplier<? extends Publisher<T>> body) {
		return Flux.defer(() -> {
			try {
				return opened(lease, body);
			}
			catch (Throwable ex) {
				return Flux.error(ex);
			}
		}).contextWrite((context) -> ReactiveLockContext.with(context, lease));
	}

	/**
	 * Calls the body in the scope of the lock, which it may read the token from. A
	 * subscription that was cancelled before does not call it; one that is cancelled
	 * meanwhile releases the lock after it.
	 */
	private <P> P opened(LockLease lease, Supplier<P> body) {
		if (!this.state.compareAndSet(lease, STARTED)) {
			throw new CancellationException("The subscription was cancelled before its body was called");
		}
		try {
			lease.ensureHeld();
		}
		catch (RuntimeException ex) {
			this.refused = true;
			throw ex;
		}
		try (LockContext.Scope scope = LockContext.open(lease)) {
			if (this.lossIgnored) {
				scope.ignoreLoss();
			}
			return body.get();
		}
	}

	/**
	 * Releases the lock, and fails if it was lost before. What follows runs on a thread
	 * of Reactor, not on one of the few of the library.
	 */
	Mono<Void> release(LockLease lease) {
		return Mono.fromFuture(() -> isUnused(lease) ? closeUnused(lease) : lease.closeAsync(), true)
			.publishOn(Schedulers.parallel())
			.then(Mono.fromRunnable(() -> throwLoss(lease)));
	}

	/** Whether the body was not called, and will not be. */
	private boolean isUnused(LockLease lease) {
		return this.state.compareAndSet(lease, ENDED) || this.refused;
	}

	/** Releases the lock after a failure, to which a loss is added. */
	Mono<Void> releaseAfter(LockLease lease, Throwable failure) {
		return release(lease).onErrorComplete((loss) -> {
			if (loss instanceof LockLostException && !(failure instanceof LockLostException)) {
				failure.addSuppressed(loss);
			}
			return true;
		});
	}

	private void throwLoss(LockLease lease) {
		if (!this.lossIgnored && lease.lossReason() != null) {
			try {
				lease.ensureHeld();
			}
			catch (LockLostException ex) {
				this.loss = ex;
				throw ex;
			}
		}
	}

	/** Returns the loss itself where Reactor has wrapped the failure of the release. */
	Throwable unwrapped(Throwable failure) {
		LockLostException own = this.loss;
		return (own != null && failure.getCause() == own) ? own : failure;
	}

}
