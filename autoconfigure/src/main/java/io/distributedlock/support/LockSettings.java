package io.distributedlock.support;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
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

	/** A request for any key: what it refuses cannot be a default either. */
	private static final LockRequest ANY = LockRequest.of(LockKey.of("any"));

	public LockSettings {
		ANY.withLease(lease).withWaitTime(waitTime).withMaxHold(maxHold);
		if (callTimeout.toMillis() <= 0 || callTimeout.compareTo(Duration.ofHours(1)) > 0) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					"The call time-out is " + callTimeout + ", but a round trip may take 1 ms to 1 hour",
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

	/**
	 * Returns a copy with another lease.
	 * @param lease the lease, 10 ms to 365 days
	 * @return the copy
	 * @throws LockConfigurationException if it is out of range
	 */
	public LockSettings withLease(Duration lease) {
		return new LockSettings(lease, this.waitTime, this.maxHold, this.callTimeout, this.renewalFraction);
	}

	/**
	 * Returns a copy with another wait time.
	 * @param waitTime the wait time, up to 365 days
	 * @return the copy
	 * @throws LockConfigurationException if it is out of range
	 */
	public LockSettings withWaitTime(Duration waitTime) {
		return new LockSettings(this.lease, waitTime, this.maxHold, this.callTimeout, this.renewalFraction);
	}

	/**
	 * Returns a copy with another longest hold.
	 * @param maxHold the longest hold, more than zero and up to 365 days, or {@code null}
	 * for no limit
	 * @return the copy
	 * @throws LockConfigurationException if it is out of range
	 */
	public LockSettings withMaxHold(@Nullable Duration maxHold) {
		return new LockSettings(this.lease, this.waitTime, maxHold, this.callTimeout, this.renewalFraction);
	}

	/**
	 * Returns a copy with another call time-out.
	 * @param callTimeout how long one round trip may take, 1 ms to 1 hour
	 * @return the copy
	 * @throws LockConfigurationException if it is out of range
	 */
	public LockSettings withCallTimeout(Duration callTimeout) {
		return new LockSettings(this.lease, this.waitTime, this.maxHold, callTimeout, this.renewalFraction);
	}

	/**
	 * Returns a copy with another renewal fraction.
	 * @param renewalFraction the part of a lease after which it is renewed, more than 0
	 * and at most 0.5
	 * @return the copy
	 * @throws LockConfigurationException if it is out of range
	 */
	public LockSettings withRenewalFraction(double renewalFraction) {
		return new LockSettings(this.lease, this.waitTime, this.maxHold, this.callTimeout, renewalFraction);
	}

}
