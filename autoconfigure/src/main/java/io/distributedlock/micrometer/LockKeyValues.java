package io.distributedlock.micrometer;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;

/**
 * The key values of low cardinality that all observations of a lock have.
 */
final class LockKeyValues {

	private LockKeyValues() {
	}

	/** Returns the key values; the outcome is one of them once it is known. */
	static KeyValues of(LockObservationContext context) {
		KeyValue name = LockKeyName.NAME.withValue(context.getLockName());
		KeyValue provider = LockKeyName.PROVIDER.withValue(context.getProvider());
		String outcome = context.getOutcome();
		return (outcome != null) ? KeyValues.of(name, provider, LockKeyName.OUTCOME.withValue(outcome))
				: KeyValues.of(name, provider);
	}

}
