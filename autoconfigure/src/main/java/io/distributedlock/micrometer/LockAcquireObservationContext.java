package io.distributedlock.micrometer;

import java.util.Locale;

import io.distributedlock.LockKey;
import io.distributedlock.LockMode;
import io.distributedlock.provider.AcquireOutcome;

/**
 * The context of a request for one key. Its outcome is that of {@link AcquireOutcome}, in
 * lower case.
 *
 * @since 0.1.0
 */
public final class LockAcquireObservationContext extends LockObservationContext {

	LockAcquireObservationContext(String lockName, String provider, LockKey key, LockMode mode) {
		super(lockName, provider, key, mode);
	}

	void setOutcome(AcquireOutcome outcome) {
		setOutcome(outcome.name().toLowerCase(Locale.ROOT));
	}

}
