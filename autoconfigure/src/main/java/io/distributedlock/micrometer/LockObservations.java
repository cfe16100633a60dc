package io.distributedlock.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;

/**
 * The observations of the locks of one provider, before they start.
 *
 * @param registry where they are made
 * @param provider the name of the provider
 * @param names the names of locks that are tags
 * @param acquireConvention the convention for requests
 * @param holdConvention the convention for holds
 */
record LockObservations(ObservationRegistry registry, String provider, LockNames names,
		LockAcquireObservationConvention acquireConvention, LockHoldObservationConvention holdConvention) {

	LockAcquireObservationContext acquireContext(LockKey key) {
		return new LockAcquireObservationContext(this.names.bounded(key.name()), this.provider, key);
	}

	LockHoldObservationContext holdContext(LockKey key, FencingToken token) {
		return new LockHoldObservationContext(this.names.bounded(key.name()), this.provider, key, token);
	}

	/** Creates the observation of a request, which is no-op if it is disabled. */
	Observation acquire(LockAcquireObservationContext context) {
		return LockObservationDocumentation.ACQUIRE.observation(null, this.acquireConvention, () -> context,
				this.registry);
	}

	/** Creates the observation of a hold, which is no-op if it is disabled. */
	Observation hold(LockHoldObservationContext context) {
		return LockObservationDocumentation.HOLD.observation(null, this.holdConvention, () -> context, this.registry);
	}

}
