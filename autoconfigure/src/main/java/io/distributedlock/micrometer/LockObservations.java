package io.distributedlock.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.LockMode;

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

	LockAcquireObservationContext acquireContext(LockKey key, LockMode mode) {
		return new LockAcquireObservationContext(this.names.bounded(key.name()), this.provider, key, mode);
	}

	LockHoldObservationContext holdContext(LockKey key, LockMode mode, FencingToken token) {
		return new LockHoldObservationContext(this.names.bounded(key.name()), this.provider, key, mode, token);
	}

	/** Starts an observation, and stops it for the handlers before one that fails. */
	static void start(Observation observation) {
		try {
			observation.start();
		}
		catch (RuntimeException | Error ex) {
			try {
				observation.stop();
			}
			catch (RuntimeException | Error stopped) {
				ex.addSuppressed(stopped);
			}
			throw ex;
		}
	}

	/** Stops an observation, also if a handler of its error fails. */
	static void stop(Observation observation, @Nullable Throwable error) {
		try {
			if (error != null) {
				observation.error(error);
			}
		}
		finally {
			observation.stop();
		}
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
