package io.distributedlock.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * A convention for the names and key values of {@code distributed.lock.hold}. A bean of
 * this type replaces {@link DefaultLockHoldObservationConvention}.
 *
 * @since 0.1.0
 */
public interface LockHoldObservationConvention extends ObservationConvention<LockHoldObservationContext> {

	@Override
	default boolean supportsContext(Observation.Context context) {
		return context instanceof LockHoldObservationContext;
	}

}
