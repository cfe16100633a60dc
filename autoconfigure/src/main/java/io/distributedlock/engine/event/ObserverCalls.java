package io.distributedlock.engine.event;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Calls of observers, whose failures are logged and affect nothing, also a checked
 * exception that is not declared.
 */
final class ObserverCalls {

	private static final Log logger = LogFactory.getLog(ObserverCalls.class);

	private ObserverCalls() {
	}

	/** Calls each observer. */
	static <T> void each(List<T> observers, Consumer<T> call) {
		for (T observer : observers) {
			try {
				call.accept(observer);
			}
			catch (Throwable ex) {
				logger.warn("A lock observer failed; the lock is not affected", ex);
			}
		}
	}

	/** Calls each observer, and returns what those that succeed return but null. */
	static <T, R> List<R> collect(List<T> observers, ObserverFactory<T, R> call) {
		List<R> results = new ArrayList<>(observers.size());
		each(observers, (observer) -> {
			R result = call.create(observer);
			if (result != null) {
				results.add(result);
			}
		});
		return results;
	}

	/**
	 * A call that may return something.
	 *
	 * @param <T> the observer
	 * @param <R> what it returns
	 */
	@FunctionalInterface
	interface ObserverFactory<T, R> {

		@Nullable R create(T observer);

	}

}
