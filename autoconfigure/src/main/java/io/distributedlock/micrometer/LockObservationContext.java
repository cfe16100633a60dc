package io.distributedlock.micrometer;

import java.util.Locale;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.LockMode;

/**
 * What an observation of a lock knows, for conventions, filters and handlers.
 *
 * @since 0.1.0
 */
public abstract class LockObservationContext extends Observation.Context {

	private final String lockName;

	private final String provider;

	private final LockKey key;

	private final LockMode mode;

	private volatile @Nullable String outcome;

	/**
	 * Creates a context.
	 * @param lockName the name of the lock as a tag: one of a bounded number
	 * @param provider the name of the provider that keeps the lock
	 * @param key the key
	 * @param mode the mode of the request
	 */
	LockObservationContext(String lockName, String provider, LockKey key, LockMode mode) {
		this.lockName = lockName;
		this.provider = provider;
		this.key = key;
		this.mode = mode;
	}

	/**
	 * Returns the name of the lock as a tag.
	 * @return the name, or {@code (other)} beyond the first thousand
	 */
	public String getLockName() {
		return this.lockName;
	}

	/**
	 * Returns the name of the provider that keeps the lock.
	 * @return the name
	 */
	public String getProvider() {
		return this.provider;
	}

	/**
	 * Returns the key, of which there may be any number.
	 * @return the key
	 */
	public LockKey getKey() {
		return this.key;
	}

	/**
	 * Returns the mode of the request.
	 * @return the mode
	 */
	public LockMode getMode() {
		return this.mode;
	}

	/**
	 * Returns how the observation ended.
	 * @return the outcome, or {@code null} before the end
	 */
	public @Nullable String getOutcome() {
		return this.outcome;
	}

	void setOutcome(String outcome) {
		this.outcome = outcome;
	}

	/**
	 * Returns the key values of low cardinality; the outcome is one of them once it is
	 * known.
	 */
	KeyValues lowCardinalityKeyValues() {
		KeyValue name = LockObservationKeyName.NAME.withValue(this.lockName);
		KeyValue provider = LockObservationKeyName.PROVIDER.withValue(this.provider);
		KeyValue mode = LockObservationKeyName.MODE.withValue(this.mode.name().toLowerCase(Locale.ROOT));
		String ended = this.outcome;
		return (ended != null) ? KeyValues.of(name, provider, mode, LockObservationKeyName.OUTCOME.withValue(ended))
				: KeyValues.of(name, provider, mode);
	}

}
