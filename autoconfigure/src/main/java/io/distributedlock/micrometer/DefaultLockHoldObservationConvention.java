package io.distributedlock.micrometer;

import io.micrometer.common.KeyValues;

/**
 * The default convention for holds of a lock.
 *
 * @since 0.1.0
 */
public class DefaultLockHoldObservationConvention implements LockHoldObservationConvention {

	@Override
	public String getName() {
		return "distributed.lock.hold";
	}

	@Override
	public String getContextualName(LockHoldObservationContext context) {
		return "hold " + context.getLockName();
	}

	@Override
	public KeyValues getLowCardinalityKeyValues(LockHoldObservationContext context) {
		return context.lowCardinalityKeyValues();
	}

	@Override
	public KeyValues getHighCardinalityKeyValues(LockHoldObservationContext context) {
		return KeyValues.of(LockObservationKeyName.KEY.withValue(context.getKey().toString()),
				LockObservationKeyName.TOKEN.withValue(context.getToken().toString()));
	}

}
