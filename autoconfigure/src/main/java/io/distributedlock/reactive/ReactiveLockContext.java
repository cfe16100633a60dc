package io.distributedlock.reactive;

import java.util.List;
import java.util.stream.Stream;

import reactor.core.publisher.Mono;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

import io.distributedlock.LockLease;

/**
 * The locks that a reactive flow of work runs under, in Reactor's context. A flow has no
 * thread of its own, so that {@link io.distributedlock.LockContext} knows a lock only
 * while the method that returns the publisher runs.
 *
 * @since 0.1.0
 */
public final class ReactiveLockContext {

	private static final Object KEY = ReactiveLockContext.class;

	private ReactiveLockContext() {
	}

	/**
	 * Returns the innermost lock that the flow of the subscriber runs under.
	 * @return the handle, or empty if it runs under none
	 */
	public static Mono<LockLease> current() {
		return Mono.deferContextual((context) -> Mono.justOrEmpty(find(context).stream().findFirst()));
	}

	private static List<LockLease> find(ContextView context) {
		return context.hasKey(KEY) ? context.get(KEY) : List.of();
	}

	/** Returns the locks of a flow, the innermost first, then those of its thread. */
	static List<LockLease> enclosing(ContextView context, List<LockLease> onThread) {
		return concat(find(context), onThread);
	}

	private static List<LockLease> concat(List<LockLease> inner, List<LockLease> outer) {
		return outer.isEmpty() ? inner : Stream.concat(inner.stream(), outer.stream()).toList();
	}

	static Context with(Context context, LockLease lease) {
		return ObservedFlow.within(context.put(KEY, concat(List.of(lease), find(context))), lease);
	}

}
