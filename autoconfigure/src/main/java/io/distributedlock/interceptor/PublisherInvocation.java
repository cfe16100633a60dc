package io.distributedlock.interceptor;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInvocation;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;

import io.distributedlock.LockException;
import io.distributedlock.LockLease;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.reactive.ReactiveLockTemplate;

/**
 * One call of a locked method that returns a {@link Mono}, a {@link Flux} or another
 * publisher. The method itself runs for each subscription, under its lock.
 */
final class PublisherInvocation {

	private final LockedMethod method;

	private final MethodInvocation invocation;

	private final LockRequest request;

	private final Supplier<LockOperations> operations;

	/**
	 * Creates a call.
	 * @param invocation the call, of which a clone is kept as it is now: an outer
	 * interceptor may proceed with it again
	 * @param operations the locks, looked up with the first subscription: Spring calls a
	 * scheduled method while its bean is created
	 */
	PublisherInvocation(LockedMethod method, MethodInvocation invocation, Supplier<LockOperations> operations) {
		this.method = method;
		this.invocation = clone(invocation);
		this.request = method.request(invocation);
		this.operations = operations;
	}

	private static MethodInvocation clone(MethodInvocation invocation) {
		return (invocation instanceof ProxyMethodInvocation proxied) ? proxied.invocableClone() : invocation;
	}

	private ReactiveLockTemplate locks() {
		ReactiveLockTemplate template = new ReactiveLockTemplate(this.operations.get());
		return this.method.ignoresLoss() ? template.ignoringLoss() : template;
	}

	Object run() {
		return (this.method.kind() == ResultKind.MONO) ? mono() : flux();
	}

	private Mono<Object> mono() {
		return Mono.defer(() -> {
			AtomicBoolean started = new AtomicBoolean();
			return locks().execute(this.request, (lease) -> {
				started.set(true);
				return Mono.fromDirect(work(lease));
			}).onErrorResume(LockException.class, (ex) -> started.get() ? Mono.error(ex) : Mono.from(react(ex)));
		});
	}

	private Flux<Object> flux() {
		return Flux.defer(() -> {
			AtomicBoolean started = new AtomicBoolean();
			return locks().executeMany(this.request, (lease) -> {
				started.set(true);
				return work(lease);
			}).onErrorResume(LockException.class, (ex) -> started.get() ? Flux.error(ex) : Flux.from(react(ex)));
		});
	}

	private Flux<Object> work(LockLease lease) {
		Flux<Object> work = Flux.from(proceed());
		if (this.method.interruptsWhenLost()) {
			work = work.takeUntilOther(lossOf(lease))
				.concatWith(Mono
					.defer(() -> (lease.lossReason() != null) ? Mono.error(LossExceptions.of(lease)) : Mono.empty()));
		}
		return work.doOnNext(this.method::requireFinished);
	}

	/** Completes once the lock is lost, unless it is cancelled before. */
	private static Mono<Object> lossOf(LockLease lease) {
		return Mono.create((sink) -> sink.onDispose(lease.onLost(sink::success)::close));
	}

	/**
	 * Proceeds with a clone: each subscription runs the whole chain of advice. The clone
	 * is exposed on this thread, where advice of AspectJ looks for it.
	 */
	@SuppressWarnings("unchecked")
	private Publisher<Object> proceed() {
		MethodInvocation call = clone(this.invocation);
		try {
			Object work = ExposeInvocationInterceptor.INSTANCE.invoke(call);
			return (work != null) ? (Publisher<Object>) work : Mono.error(this.method.nullPublisher());
		}
		catch (Throwable ex) {
			return Mono.error(ex);
		}
	}

	@SuppressWarnings("unchecked")
	private Publisher<Object> react(LockException failure) {
		try {
			Object result = this.method.react(this.invocation, failure);
			return (result != null) ? (Publisher<Object>) result : Mono.empty();
		}
		catch (Throwable ex) {
			return Mono.error(ex);
		}
	}

}
