package io.distributedlock.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * A convention for the names and key values of {@code distributed.lock.acquire}. A bean
 * of this type replaces {@link DefaultLockAcquireObservationConvention}.
 *
 * @since 0.1.0
 */
public interface LockAcquireObservationConvention extends ObservationConvention<LockAcquireObservationContext> {

	@Override
	default boolean supportsContext(Observation.Context context) {
		return context instanceof LockAcquireObservationContext;
	}

}
