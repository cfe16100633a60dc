package io.distributedlock.micrometer;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;

/**
 * The key values of low cardinality that all observations of a lock have.
 */
final class LockObservationKeyValues {

	private LockObservationKeyValues() {
	}

	/** Returns the key values; the outcome is one of them once it is known. */
	static KeyValues of(LockObservationContext context) {
		KeyValue name = LockObservationKeyName.NAME.withValue(context.getLockName());
		KeyValue provider = LockObservationKeyName.PROVIDER.withValue(context.getProvider());
		String outcome = context.getOutcome();
		return (outcome != null) ? KeyValues.of(name, provider, LockObservationKeyName.OUTCOME.withValue(outcome))
				: KeyValues.of(name, provider);
	}

}
