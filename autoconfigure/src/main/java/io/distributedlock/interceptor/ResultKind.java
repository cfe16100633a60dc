package io.distributedlock.interceptor;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import reactor.core.scheduler.Schedulers;

import org.springframework.util.ClassUtils;

/** The kinds of results of locked methods: they decide when the lock is released. */
public enum ResultKind {

	/** A value that is finished when the method returns. */
	VALUE,
	/** A stage: the lock is held until it is complete. */
	STAGE,
	/** A publisher of one value: each subscription holds the lock. */
	MONO,
	/** A publisher of many values: each subscription holds the lock. */
	FLUX;

	private static final boolean REACTOR = ClassUtils.isPresent("reactor.core.publisher.Mono",
			ResultKind.class.getClassLoader());

	private static final Set<String> FLUXES = Set.of("reactor.core.publisher.Flux", "org.reactivestreams.Publisher");

	/** Returns the kind of a declared type. */
	public static ResultKind of(Class<?> type) {
		if (type == CompletableFuture.class || type == CompletionStage.class) {
			return STAGE;
		}
		if (type.getName().equals("reactor.core.publisher.Mono")) {
			return MONO;
		}
		return FLUXES.contains(type.getName()) && REACTOR ? FLUX : VALUE;
	}

	/**
	 * Returns whether the calling thread is one of an event loop, which must not wait.
	 */
	static boolean isOnNonBlockingThread() {
		return REACTOR && Schedulers.isInNonBlockingThread();
	}

	public boolean isReactive() {
		return this == MONO || this == FLUX;
	}

}
