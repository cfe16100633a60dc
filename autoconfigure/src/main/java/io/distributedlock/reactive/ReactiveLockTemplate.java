package io.distributedlock.reactive;

import java.util.List;
import java.util.function.Function;

import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.ContextView;

import io.distributedlock.LockContext;
import io.distributedlock.LockLease;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;

/**
 * Locks around Reactor's publishers. No thread waits for a lock, and none is blocked by a
 * release. Each subscription acquires the lock anew, unless a lock that the flow of work
 * runs under has the key already: it is found in Reactor's context, or on the thread that
 * subscribes.
 * <p>
 * The lock is held until the publisher of the body completes, fails or is cancelled, and
 * the completion follows the release. A lock that was lost before fails the flow with a
 * {@link io.distributedlock.LockLostException}. The body is called, and its publisher
 * subscribed to, on a thread of {@link Schedulers#parallel()}, as after any other
 * operator that waits. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class ReactiveLockTemplate {

	private final LockOperations operations;

	private final boolean lossIgnored;

	/**
	 * Creates a template.
	 * @param operations the locks
	 */
	public ReactiveLockTemplate(LockOperations operations) {
		this(operations, false);
	}

	private ReactiveLockTemplate(LockOperations operations, boolean lossIgnored) {
		this.operations = operations;
		this.lossIgnored = lossIgnored;
	}

	/**
	 * Returns a template with which a flow goes on although its lock was lost. The loss
	 * is logged, and listeners are notified.
	 * @return the copy
	 */
	public ReactiveLockTemplate ignoringLoss() {
		return new ReactiveLockTemplate(this.operations, true);
	}

	/**
	 * Holds a lock around a {@link Mono}.
	 * @param <T> the value
	 * @param request the request
	 * @param body returns the work; it is called for each subscription, once the lock is
	 * held
	 * @return the work under the lock; fails as
	 * {@link LockOperations#acquireAsync(LockRequest)} does if the lock is not acquired
	 */
	public <T> Mono<T> execute(LockRequest request, Function<? super LockLease, ? extends Mono<T>> body) {
		return Mono.deferContextual((context) -> {
			ReactiveHold hold = new ReactiveHold(this.lossIgnored);
			return Mono
				.usingWhen(acquire(request, hold, context),
						(lease) -> Mono.fromDirect(hold.within(lease, () -> body.apply(lease))), hold::release,
						hold::releaseAfter, hold::release)
				.onErrorMap(hold::unwrapped)
				.doFinally((signal) -> hold.end());
		});
	}

	/**
	 * Holds a lock around a {@link Flux} or another publisher.
	 * @param <T> the values
	 * @param request the request
	 * @param body returns the work; it is called for each subscription, once the lock is
	 * held
	 * @return the work under the lock; fails as
	 * {@link LockOperations#acquireAsync(LockRequest)} does if the lock is not acquired
	 */
	public <T> Flux<T> executeMany(LockRequest request, Function<? super LockLease, ? extends Publisher<T>> body) {
		return Flux.deferContextual((context) -> {
			ReactiveHold hold = new ReactiveHold(this.lossIgnored);
			return Flux
				.usingWhen(acquire(request, hold, context), (lease) -> hold.within(lease, () -> body.apply(lease)),
						hold::release, hold::releaseAfter, hold::release)
				.onErrorMap(hold::unwrapped)
				.doFinally((signal) -> hold.end());
		});
	}

	private Mono<LockLease> acquire(LockRequest request, ReactiveHold hold, ContextView context) {
		List<LockLease> onThread = LockContext.findAll();
		return hold
			.acquired(() -> ObservedFlow.call(context,
					() -> this.operations.acquireAsync(request, ReactiveLockContext.enclosing(context, onThread))))
			.publishOn(Schedulers.parallel());
	}

}
