package io.distributedlock.micrometer;

import io.micrometer.common.KeyValues;

/**
 * The default convention for requests for a lock.
 *
 * @since 0.1.0
 */
public class DefaultLockAcquireObservationConvention implements LockAcquireObservationConvention {

	@Override
	public String getName() {
		return "distributed.lock.acquire";
	}

	@Override
	public String getContextualName(LockAcquireObservationContext context) {
		return "acquire " + context.getLockName();
	}

	@Override
	public KeyValues getLowCardinalityKeyValues(LockAcquireObservationContext context) {
		return context.lowCardinalityKeyValues();
	}

	@Override
	public KeyValues getHighCardinalityKeyValues(LockAcquireObservationContext context) {
		return KeyValues.of(LockObservationKeyName.KEY.withValue(context.getKey().toString()));
	}

}
