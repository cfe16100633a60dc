package io.distributedlock.micrometer;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/**
 * The observations of locks.
 *
 * @since 0.1.0
 */
public enum LockObservationDocumentation implements ObservationDocumentation {

	/**
	 * A request for one key, from its beginning until the lock is held, busy for the
	 * whole wait time, or the request has failed.
	 */
	ACQUIRE {

		@Override
		public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
			return DefaultLockAcquireObservationConvention.class;
		}

		@Override
		public KeyName[] getHighCardinalityKeyNames() {
			return new KeyName[] { LockObservationKeyName.KEY };
		}

	},

	/** A hold of a lock, from its beginning until it is released or lost. */
	HOLD {

		@Override
		public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
			return DefaultLockHoldObservationConvention.class;
		}

		@Override
		public KeyName[] getHighCardinalityKeyNames() {
			return new KeyName[] { LockObservationKeyName.KEY, LockObservationKeyName.TOKEN };
		}

	};

	@Override
	public KeyName[] getLowCardinalityKeyNames() {
		return new KeyName[] { LockObservationKeyName.NAME, LockObservationKeyName.PROVIDER,
				LockObservationKeyName.MODE, LockObservationKeyName.OUTCOME };
	}

}
