package io.distributedlock.engine.grant;

import java.time.Duration;

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

	private final Values values;

	private LockSettings(Values values) {
		ANY.withLease(values.lease()).withWaitTime(values.waitTime()).withMaxHold(values.maxHold());
		if (values.callTimeout().toMillis() <= 0 || values.callTimeout().compareTo(Duration.ofHours(1)) > 0) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					"The call time-out is " + values.callTimeout() + ", but a round trip may take 1 ms to 1 hour",
					"Choose what one round trip to the store may take at worst, such as 1s");
		}
		Duration handOff = values.maxHandOffTime();
		if (handOff != null && (handOff.compareTo(SHORTEST_HAND_OFF) < 0 || handOff.compareTo(LONGEST_HAND_OFF) > 0)) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					"The time of hand-offs is " + handOff + ", but must be 1 ms to 1 s",
					"Choose how long other processes may wait for their turn, such as 20ms, or switch hand-offs off (distributed-lock.hand-off.max-time=0)");
		}
		this.values = values;
	}

	/**
	 * The defaults: lease 30 s, wait time 5 s, no longest hold, call time-out 1 s,
	 * renewal after a third of the lease, hand-offs for 20 ms.
	 * @return the settings
	 */
	public static LockSettings defaults() {
		return new LockSettings(new Values(Duration.ofSeconds(30), Duration.ofSeconds(5), null, Duration.ofSeconds(1),
				1.0 / 3, Duration.ofMillis(20)));
	}

	/**
	 * Returns a copy with another lease.
	 * @param lease the lease, 10 ms to 365 days
	 * @return the copy
	 * @throws LockConfigurationException if it is out of range
	 */
	public LockSettings withLease(Duration lease) {
		return new LockSettings(
				new Values(lease, waitTime(), maxHold(), callTimeout(), renewalFraction(), maxHandOffTime()));
	}

	/**
	 * Returns a copy with another wait time.
	 * @param waitTime the wait time, up to 365 days
	 * @return the copy
	 * @throws LockConfigurationException if it is out of range
	 */
	public LockSettings withWaitTime(Duration waitTime) {
		return new LockSettings(
				new Values(lease(), waitTime, maxHold(), callTimeout(), renewalFraction(), maxHandOffTime()));
	}

	/**
	 * Returns a copy with another longest hold.
	 * @param maxHold the longest hold, more than zero and up to 365 days, or {@code null}
	 * for no limit
	 * @return the copy
	 * @throws LockConfigurationException if it is out of range
	 */
	public LockSettings withMaxHold(@Nullable Duration maxHold) {
		return new LockSettings(
				new Values(lease(), waitTime(), maxHold, callTimeout(), renewalFraction(), maxHandOffTime()));
	}

	/**
	 * Returns a copy with another call time-out.
	 * @param callTimeout how long one round trip may take, 1 ms to 1 hour
	 * @return the copy
	 * @throws LockConfigurationException if it is out of range
	 */
	public LockSettings withCallTimeout(Duration callTimeout) {
		return new LockSettings(
				new Values(lease(), waitTime(), maxHold(), callTimeout, renewalFraction(), maxHandOffTime()));
	}

	/** Returns a copy that renews sooner, for tests of many renewals. */
	LockSettings withRenewalFraction(double renewalFraction) {
		return new LockSettings(
				new Values(lease(), waitTime(), maxHold(), callTimeout(), renewalFraction, maxHandOffTime()));
	}

	/**
	 * Returns a copy with another time of hand-offs.
	 * @param maxHandOffTime for how long after its grant a lock is handed off inside the
	 * process, 1 ms to 1 s, or {@code null} for never
	 * @return the copy
	 * @throws LockConfigurationException if it is out of range
	 */
	public LockSettings withMaxHandOffTime(@Nullable Duration maxHandOffTime) {
		return new LockSettings(
				new Values(lease(), waitTime(), maxHold(), callTimeout(), renewalFraction(), maxHandOffTime));
	}

	/** Returns the lease of requests that name none. */
	public Duration lease() {
		return this.values.lease();
	}

	/** Returns the wait time of requests that name none. */
	public Duration waitTime() {
		return this.values.waitTime();
	}

	/**
	 * Returns the longest hold of requests that name none.
	 * @return the longest hold, or {@code null} for no limit
	 */
	public @Nullable Duration maxHold() {
		return this.values.maxHold();
	}

	/** Returns how long one round trip to the store may take. */
	public Duration callTimeout() {
		return this.values.callTimeout();
	}

	/** Returns the part of a lease after which it is renewed, which is a third. */
	public double renewalFraction() {
		return this.values.renewalFraction();
	}

	/**
	 * Returns for how long after its grant a lock is handed off from one request of this
	 * process to the next one, without the store. A lock whose lease is shorter than 20
	 * times that is never handed off.
	 * @return the time, or {@code null} for never
	 */
	public @Nullable Duration maxHandOffTime() {
		return this.values.maxHandOffTime();
	}

	/**
	 * Returns how long one renewal may take: as long as a round trip, but at most a sixth
	 * of the lease, so that it can be repeated within the lease.
	 * @param lease the lease that is renewed
	 * @return the time
	 */
	public Duration longestRenewal(Duration lease) {
		Duration part = lease.dividedBy(RENEWAL_PARTS);
		return (part.compareTo(callTimeout()) < 0) ? part : callTimeout();
	}

	/**
	 * Returns the shortest lease whose renewals may take as long as a round trip.
	 * @return the lease
	 */
	public Duration shortestSafeLease() {
		return callTimeout().multipliedBy(RENEWAL_PARTS);
	}

	/** Returns the time of hand-offs in nanoseconds, 0 for none. */
	public long maxHandOffNanos() {
		Duration time = maxHandOffTime();
		return (time != null) ? time.toNanos() : 0;
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return other instanceof LockSettings that && this.values.equals(that.values);
	}

	@Override
	public int hashCode() {
		return this.values.hashCode();
	}

	private record Values(Duration lease, Duration waitTime, @Nullable Duration maxHold, Duration callTimeout,
			double renewalFraction, @Nullable Duration maxHandOffTime) {
	}

}
