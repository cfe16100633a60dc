package io.distributedlock.support;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockRequest;

/**
 * The defaults and bounds of a {@link LockTemplate}.
 *
 * @param lease the lease of requests that name none
 * @param waitTime the wait time of requests that name none
 * @param maxHold the longest hold of requests that name none, or {@code null} for no
 * limit
 * @param callTimeout how long one round trip to the store may take
 * @param renewalFraction the part of a lease after which it is renewed, more than 0 and
 * at most 0.5
 * @since 0.1.0
 */
public record LockSettings(Duration lease, Duration waitTime, @Nullable Duration maxHold, Duration callTimeout,
		double renewalFraction) {

	public LockSettings {
		LockRequest.validateLease("lease", lease);
		LockRequest.validateWaitTime("waitTime", waitTime);
		LockRequest.validateMaxHold("maxHold", maxHold);
		if (callTimeout.toMillis() <= 0 || callTimeout.compareTo(Duration.ofHours(1)) > 0) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					"The call-timeout is " + callTimeout + ", but a round trip may take 1 ms to 1 hour",
					"Choose what one round trip to the store may take at worst, such as 1s");
		}
		if (!(renewalFraction > 0 && renewalFraction <= 0.5)) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					"The renewal fraction is " + renewalFraction + ", but must be more than 0 and at most 0.5",
					"Leave it unset to renew after a third of the lease");
		}
	}

	/**
	 * The defaults: lease 30 s, wait time 5 s, no longest hold, call time-out 1 s,
	 * renewal after a third of the lease.
	 * @return the settings
	 */
	public static LockSettings defaults() {
		return new LockSettings(Duration.ofSeconds(30), Duration.ofSeconds(5), null, Duration.ofSeconds(1), 1.0 / 3);
	}

}
