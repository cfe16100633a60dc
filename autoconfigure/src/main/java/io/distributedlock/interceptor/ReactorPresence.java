package io.distributedlock.interceptor;

import reactor.core.scheduler.Schedulers;

import org.springframework.util.ClassUtils;

/** Reactor, if the application has it. */
final class ReactorPresence {

	private static final boolean PRESENT = ClassUtils.isPresent("reactor.core.publisher.Mono",
			ReactorPresence.class.getClassLoader());

	private ReactorPresence() {
	}

	static boolean isPresent() {
		return PRESENT;
	}

	/**
	 * Returns whether the calling thread is one of an event loop, which must not wait.
	 */
	static boolean isOnNonBlockingThread() {
		return PRESENT && Schedulers.isInNonBlockingThread();
	}

}
