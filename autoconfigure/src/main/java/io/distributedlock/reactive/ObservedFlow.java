package io.distributedlock.reactive;

import java.util.function.Supplier;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
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
				try (Observation.Scope scope = observation.openScope()) {
					return operation.get();
				}
			}
			return operation.get();
		}

		static Context within(Context context, LockLease lease) {
			Observation before = CURRENT.getCurrentObservation();
			try (ObserverScope scope = lease.openObserverScope()) {
				Observation hold = CURRENT.getCurrentObservation();
				return (hold != null && hold != before) ? context.put(KEY, hold) : context;
			}
		}

	}

}
