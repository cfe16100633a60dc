package io.distributedlock.engine.grant;

import java.time.Duration;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockRequest;

/**
 * The defaults and bounds of a {@code LockTemplate}. Immutable; each {@code with…} method
 * returns a changed copy.
 *
 * @since 0.1.0
 */
public final class LockSettings {

	private static final Duration SHORTEST_HAND_OFF = Duration.ofMillis(1);

	private static final Duration LONGEST_HAND_OFF = Duration.ofSeconds(1);

	/** The part of a lease that one renewal may take. */
	private static final int RENEWAL_PARTS = 6;

	/** A request for any key: what it refuses cannot be a default either. */
	private static final LockRequest ANY = LockRequest.of(LockKey.of("any"));

	private final Duration lease;

	private final Duration waitTime;

	private final @Nullable Duration maxHold;

	private final Duration callTimeout;

	private final double renewalFraction;

	private final @Nullable Duration maxHandOffTime;

	private LockSettings(Duration lease, Duration waitTime, @Nullable Duration maxHold, Duration callTimeout,
			double renewalFraction, @Nullable Duration maxHandOffTime) {
		ANY.withLease(lease).withWaitTime(waitTime).withMaxHold(maxHold);
		if (callTimeout.toMillis() <= 0 || callTimeout.compareTo(Duration.ofHours(1)) > 0) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					"The call time-out is " + callTimeout + ", but a round trip may take 1 ms to 1 hour",
					"Choose what one round trip to the store may take at worst, such as 1s");
		}
		if (maxHandOffTime != null && (maxHandOffTime.compareTo(SHORTEST_HAND_OFF) < 0
				|| maxHandOffTime.compareTo(LONGEST_HAND_OFF) > 0)) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					"The time of hand-offs is " + maxHandOffTime + ", but must be 1 ms to 1 s",
					"Choose how long other processes may wait for their turn, such as 20ms, or switch hand-offs off (distributed-lock.hand-off.max-time=0)");
		}
		this.lease = lease;
		this.waitTime = waitTime;
		this.maxHold = maxHold;
		this.callTimeout = callTimeout;
		this.renewalFraction = renewalFraction;
		this.maxHandOffTime = maxHandOffTime;
	}

	/**
	 * The defaults: lease 30 s, wait time 5 s, no longest hold, call time-out 1 s,
	 * renewal after a third of the lease, hand-offs for 20 ms.
	 * @return the settings
	 */
	public static LockSettings defaults() {
		return new LockSettings(Duration.ofSeconds(30), Duration.ofSeconds(5), null, Duration.ofSeconds(1), 1.0 / 3,
				Duration.ofMillis(20));
	}

	/**
	 * Returns a copy with another lease.
	 * @param lease the lease, 10 ms to 365 days
	 * @return the copy
	 * @throws LockConfigurationException if it is out of range
	 */
	public LockSettings withLease(Duration lease) {
		return new LockSettings(lease, this.waitTime, this.maxHold, this.callTimeout, this.renewalFraction,
				this.maxHandOffTime);
	}

	/**
	 * Returns a copy with another wait time.
	 * @param waitTime the wait time, up to 365 days
	 * @return the copy
	 * @throws LockConfigurationException if it is out of range
	 */
	public LockSettings withWaitTime(Duration waitTime) {
		return new LockSettings(this.lease, waitTime, this.maxHold, this.callTimeout, this.renewalFraction,
				this.maxHandOffTime);
	}

	/**
	 * Returns a copy with another longest hold.
	 * @param maxHold the longest hold, more than zero and up to 365 days, or {@code null}
	 * for no limit
	 * @return the copy
	 * @throws LockConfigurationException if it is out of range
	 */
	public LockSettings withMaxHold(@Nullable Duration maxHold) {
		return new LockSettings(this.lease, this.waitTime, maxHold, this.callTimeout, this.renewalFraction,
				this.maxHandOffTime);
	}

	/**
	 * Returns a copy with another call time-out.
	 * @param callTimeout how long one round trip may take, 1 ms to 1 hour
	 * @return the copy
	 * @throws LockConfigurationException if it is out of range
	 */
	public LockSettings withCallTimeout(Duration callTimeout) {
		return new LockSettings(this.lease, this.waitTime, this.maxHold, callTimeout, this.renewalFraction,
				this.maxHandOffTime);
	}

	/** Returns a copy that renews sooner, for tests of many renewals. */
	LockSettings withRenewalFraction(double renewalFraction) {
		return new LockSettings(this.lease, this.waitTime, this.maxHold, this.callTimeout, renewalFraction,
				this.maxHandOffTime);
	}

	/**
	 * Returns a copy with another time of hand-offs.
	 * @param maxHandOffTime for how long after its grant a lock is handed off inside the
	 * process, 1 ms to 1 s, or {@code null} for never
	 * @return the copy
	 * @throws LockConfigurationException if it is out of range
	 */
	public LockSettings withMaxHandOffTime(@Nullable Duration maxHandOffTime) {
		return new LockSettings(this.lease, this.waitTime, this.maxHold, this.callTimeout, this.renewalFraction,
				maxHandOffTime);
	}

	/** Returns the lease of requests that name none. */
	public Duration lease() {
		return this.lease;
	}

	/** Returns the wait time of requests that name none. */
	public Duration waitTime() {
		return this.waitTime;
	}

	/**
	 * Returns the longest hold of requests that name none.
	 * @return the longest hold, or {@code null} for no limit
	 */
	public @Nullable Duration maxHold() {
		return this.maxHold;
	}

	/** Returns how long one round trip to the store may take. */
	public Duration callTimeout() {
		return this.callTimeout;
	}

	/** Returns the part of a lease after which it is renewed, which is a third. */
	public double renewalFraction() {
		return this.renewalFraction;
	}

	/**
	 * Returns for how long after its grant a lock is handed off from one request of this
	 * process to the next one, without the store. A lock whose lease is shorter than 20
	 * times that is never handed off.
	 * @return the time, or {@code null} for never
	 */
	public @Nullable Duration maxHandOffTime() {
		return this.maxHandOffTime;
	}

	/**
	 * Returns how long one renewal may take: as long as a round trip, but at most a sixth
	 * of the lease, so that it can be repeated within the lease.
	 * @param lease the lease that is renewed
	 * @return the time
	 */
	public Duration longestRenewal(Duration lease) {
		Duration part = lease.dividedBy(RENEWAL_PARTS);
		return (part.compareTo(this.callTimeout) < 0) ? part : this.callTimeout;
	}

	/**
	 * Returns the shortest lease whose renewals may take as long as a round trip.
	 * @return the lease
	 */
	public Duration shortestSafeLease() {
		return this.callTimeout.multipliedBy(RENEWAL_PARTS);
	}

	/** Returns the time of hand-offs in nanoseconds, 0 for none. */
	public long maxHandOffNanos() {
		return (this.maxHandOffTime != null) ? this.maxHandOffTime.toNanos() : 0;
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return this == other || (other instanceof LockSettings that && this.lease.equals(that.lease)
				&& this.waitTime.equals(that.waitTime) && Objects.equals(this.maxHold, that.maxHold)
				&& this.callTimeout.equals(that.callTimeout)
				&& Double.compare(this.renewalFraction, that.renewalFraction) == 0
				&& Objects.equals(this.maxHandOffTime, that.maxHandOffTime));
	}

	@Override
	public int hashCode() {
		return Objects.hash(this.lease, this.waitTime, this.maxHold, this.callTimeout, this.renewalFraction,
				this.maxHandOffTime);
	}

	@Override
	public String toString() {
		return "LockSettings[lease=" + this.lease + ", waitTime=" + this.waitTime + ", maxHold=" + this.maxHold
				+ ", callTimeout=" + this.callTimeout + ", renewalFraction=" + this.renewalFraction
				+ ", maxHandOffTime=" + this.maxHandOffTime + "]";
	}

}
