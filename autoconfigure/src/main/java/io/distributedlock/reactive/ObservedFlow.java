package io.distributedlock.reactive;

import java.util.function.Supplier;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

import org.springframework.util.ClassUtils;

import io.distributedlock.LockLease;
import io.distributedlock.ObserverScope;

/**
 * The observation that a reactive flow runs under, which Reactor's context has under the
 * name that Micrometer gives it. Without Micrometer there is none.
 */
final class ObservedFlow {

	private static final Log logger = LogFactory.getLog(ObservedFlow.class);

	private static final boolean PRESENT = ClassUtils.isPresent("io.micrometer.observation.Observation",
			ObservedFlow.class.getClassLoader());

	private ObservedFlow() {
	}

	/** Calls an operation while the observation of the flow is the thread's. */
	static <T> T call(ContextView context, Supplier<T> operation) {
		return PRESENT ? Observed.call(context, operation) : operation.get();
	}

	/** Puts the observation of a hold into the context of the work under it. */
	static Context within(Context context, LockLease lease) {
		return PRESENT ? Observed.within(context, lease) : context;
	}

	/** What needs Micrometer's classes. */
	private static final class Observed {

		/**
		 * The {@code KEY} of Micrometer's {@code ObservationThreadLocalAccessor}, a class
		 * that needs another library.
		 */
		private static final String KEY = "micrometer.observation";

		/** Knows what is current on a thread, for observations of any registry. */
		private static final ObservationRegistry CURRENT = ObservationRegistry.create();

		static <T> T call(ContextView context, Supplier<T> operation) {
			if (context.getOrDefault(KEY, null) instanceof Observation observation) {
				Observation.Scope previous = CURRENT.getCurrentObservationScope();
				Observation.Scope scope = open(observation, previous);
				try {
					return operation.get();
				}
				finally {
					close(scope, previous);
				}
			}
			return operation.get();
		}

		private static Observation.@Nullable Scope open(Observation observation, Observation.@Nullable Scope previous) {
			try {
				return observation.openScope();
			}
			catch (Throwable ex) {
				failed(ex);
				CURRENT.setCurrentObservationScope(previous);
				return null;
			}
		}

		private static void close(Observation.@Nullable Scope scope, Observation.@Nullable Scope previous) {
			try {
				if (scope != null) {
					scope.close();
				}
			}
			catch (Throwable ex) {
				failed(ex);
			}
			finally {
				CURRENT.setCurrentObservationScope(previous);
			}
		}

		private static void failed(Throwable ex) {
			logger.warn("A handler of the caller's observation failed; the lock is not affected", ex);
		}

		static Context within(Context context, LockLease lease) {
			Observation before = CURRENT.getCurrentObservation();
			try (ObserverScope scope = ObserverScope.open(lease)) {
				Observation hold = CURRENT.getCurrentObservation();
				return (hold != null && hold != before) ? context.put(KEY, hold) : context;
			}
		}

	}

}
