package io.distributedlock;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * A request for a lock. Immutable; each {@code with…} method returns a changed copy.
 *
 * @since 0.1.0
 */
public final class LockRequest {

	private static final Duration LONGEST = Duration.ofDays(365);

	private static final Duration SHORTEST_LEASE = Duration.ofMillis(10);

	private final List<LockKey> keys;

	private final Terms terms;

	private LockRequest(Collection<LockKey> keys, Terms terms) {
		if (keys.isEmpty()) {
			throw new InvalidLockKeyException(LockError.NO_KEYS, "A lock was requested without a key",
					"Name at least one key; an empty collection would run the body without a lock");
		}
		this.keys = (keys.size() == 1) ? List.copyOf(keys) : keys.stream().distinct().sorted().toList();
		this.terms = terms;
	}

	/**
	 * Creates a request for one key with the defaults.
	 * @param key the key
	 * @return the request
	 */
	public static LockRequest of(LockKey key) {
		return new LockRequest(List.of(key), Terms.DEFAULT);
	}

	/**
	 * Creates a request for several keys, held all or none.
	 * @param keys the keys, at least one; repeated ones count once
	 * @return the request
	 * @throws InvalidLockKeyException if there are none
	 */
	public static LockRequest ofAll(Collection<LockKey> keys) {
		return new LockRequest(List.copyOf(keys), Terms.DEFAULT);
	}

	/**
	 * Returns a copy with another lease.
	 * @param lease the lease, 10 ms to 365 days, or {@code null} for the default
	 * @return the copy
	 * @throws LockConfigurationException if it is out of range
	 */
	public LockRequest withLease(@Nullable Duration lease) {
		return new LockRequest(this.keys, new Terms(lease, waitTime(), renew(), maxHold(), minHold(), permits()));
	}

	/**
	 * Returns a copy with another wait time.
	 * @param waitTime the wait time, up to 365 days, or {@code null} for the default
	 * @return the copy
	 * @throws LockConfigurationException if it is out of range
	 */
	public LockRequest withWaitTime(@Nullable Duration waitTime) {
		return new LockRequest(this.keys, new Terms(lease(), waitTime, renew(), maxHold(), minHold(), permits()));
	}

	/**
	 * Returns a copy whose lock is not renewed: the lease is the longest hold.
	 * @return the copy
	 */
	public LockRequest withoutRenewal() {
		return new LockRequest(this.keys, new Terms(lease(), waitTime(), false, maxHold(), minHold(), permits()));
	}

	/**
	 * Returns a copy with another longest hold.
	 * @param maxHold the longest hold, more than zero and up to 365 days, or {@code null}
	 * for the default
	 * @return the copy
	 * @throws LockConfigurationException if it is out of range
	 */
	public LockRequest withMaxHold(@Nullable Duration maxHold) {
		return new LockRequest(this.keys, new Terms(lease(), waitTime(), renew(), maxHold, minHold(), permits()));
	}

	/**
	 * Returns a copy with another shortest hold: within it the lock is granted once at
	 * most, as the store's clock counts. A lock that is released earlier, or whose
	 * process dies, is kept by the store for the rest of it.
	 * @param minHold the shortest hold, up to 365 days and not more than the longest
	 * hold, or {@code null} or zero for none
	 * @return the copy
	 * @throws LockConfigurationException if it is out of range, or the request is shared
	 * or has permits
	 */
	public LockRequest withMinHold(@Nullable Duration minHold) {
		return new LockRequest(this.keys, new Terms(lease(), waitTime(), renew(), maxHold(), minHold, permits()));
	}

	/**
	 * Returns a copy that asks for a share of the key, beside any number of other shares,
	 * as a reader does. Writers request the same key {@linkplain #exclusive()
	 * exclusively}.
	 * @return the copy
	 * @throws LockConfigurationException if the request has a shortest hold
	 */
	public LockRequest shared() {
		return new LockRequest(this.keys,
				new Terms(lease(), waitTime(), renew(), maxHold(), minHold(), Integer.MAX_VALUE));
	}

	/**
	 * Returns a copy that asks for one of a limited number of shares of the key, as of a
	 * semaphore. All shares of the key count, whatever their own requests allow.
	 * @param permits the number of shares that there may be at a time, at least 1;
	 * {@link Integer#MAX_VALUE} is the same as {@link #shared()}
	 * @return the copy
	 * @throws LockConfigurationException if it is out of range, or the request has a
	 * shortest hold
	 */
	public LockRequest withPermits(int permits) {
		if (permits < 1) {
			throw new LockConfigurationException(LockError.INVALID_PERMITS,
					"The number of permits is " + permits + ", but a lock has 1 or more",
					"Use 1 for one holder at a time, or leave it out for an exclusive lock");
		}
		return new LockRequest(this.keys, new Terms(lease(), waitTime(), renew(), maxHold(), minHold(), permits));
	}

	/**
	 * Returns a copy that asks for the key alone, as requests do by default.
	 * @return the copy
	 */
	public LockRequest exclusive() {
		return new LockRequest(this.keys, new Terms(lease(), waitTime(), renew(), maxHold(), minHold(), 0));
	}

	/**
	 * Returns a copy for other keys.
	 * @param keys the keys, at least one
	 * @return the copy
	 * @throws InvalidLockKeyException if there are none
	 */
	public LockRequest withKeys(Collection<LockKey> keys) {
		return new LockRequest(List.copyOf(keys), this.terms);
	}

	/** Returns the keys to be held together, sorted and without repetition. */
	public List<LockKey> keys() {
		return this.keys;
	}

	/**
	 * Returns how long the store keeps the lock unless it is renewed.
	 * @return the lease, or {@code null} for the default
	 */
	public @Nullable Duration lease() {
		return this.terms.lease;
	}

	/**
	 * Returns how long to wait for a busy lock.
	 * @return the wait time, zero for one attempt, or {@code null} for the default
	 */
	public @Nullable Duration waitTime() {
		return this.terms.waitTime;
	}

	/**
	 * Returns whether the lease is renewed while the lock is held; if not, the lease is
	 * the longest hold.
	 */
	public boolean renew() {
		return this.terms.renew;
	}

	/**
	 * Returns after which time of holding renewal stops.
	 * @return the longest hold, or {@code null} for the default
	 */
	public @Nullable Duration maxHold() {
		return this.terms.maxHold;
	}

	/**
	 * Returns for how long after its grant the store keeps the lock at least, also when
	 * it is released before or the process dies.
	 * @return the shortest hold, or {@code null} for no longer than it is held
	 */
	public @Nullable Duration minHold() {
		return this.terms.minHold;
	}

	/** Returns who may hold the key at the same time. */
	public LockMode mode() {
		return LockMode.ofPermits(permits());
	}

	/**
	 * Returns how many shares of the key there may be at a time, the requested one
	 * included.
	 * @return the number, {@link Integer#MAX_VALUE} for {@link LockMode#SHARED}, or 0 for
	 * {@link LockMode#EXCLUSIVE}
	 */
	public int permits() {
		return this.terms.permits;
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return this == other
				|| (other instanceof LockRequest that && this.keys.equals(that.keys) && this.terms.equals(that.terms));
	}

	@Override
	public int hashCode() {
		return Objects.hash(this.keys, this.terms);
	}

	@Override
	public String toString() {
		return "LockRequest[keys=" + this.keys + ", lease=" + lease() + ", waitTime=" + waitTime() + ", renew="
				+ renew() + ", maxHold=" + maxHold() + ", minHold=" + minHold()
				+ ((mode() == LockMode.EXCLUSIVE) ? "" : ", permits=" + permits()) + "]";
	}

	/**
	 * The times and the mode of a request, checked once for the requests of all calls of
	 * a method.
	 *
	 * @param lease the lease, or {@code null} for the default
	 * @param waitTime the longest wait, or {@code null} for the default
	 * @param renew whether the lease is renewed
	 * @param maxHold the longest hold, or {@code null} for the default
	 * @param minHold the shortest hold, or {@code null} for none
	 * @param permits the most shares, 0 for an exclusive lock
	 */
	private record Terms(@Nullable Duration lease, @Nullable Duration waitTime, boolean renew,
			@Nullable Duration maxHold, @Nullable Duration minHold, int permits) {

		private static final Terms DEFAULT = new Terms(null, null, true, null, null, 0);

		private Terms {
			if (isOutside(lease, SHORTEST_LEASE)) {
				throw new LockConfigurationException(LockError.INVALID_LEASE,
						"The lease is " + lease + ", but a lease lasts 10 ms to 365 days",
						"Choose a lease longer than the store's slowest answer, such as 30s");
			}
			if (isOutside(waitTime, Duration.ZERO)) {
				throw new LockConfigurationException(LockError.INVALID_WAIT_TIME,
						"The wait time is " + waitTime + ", but a wait lasts 0 to 365 days", "Use 0 for one attempt");
			}
			if (isOutside(maxHold, Duration.ofNanos(1))) {
				throw new LockConfigurationException(LockError.INVALID_MAX_HOLD,
						"The longest hold is " + maxHold + ", but a longest hold is more than 0 and at most 365 days",
						"Leave it unset for no limit");
			}
			if (isOutside(minHold, Duration.ZERO)) {
				throw new LockConfigurationException(LockError.INVALID_MIN_HOLD,
						"The shortest hold is " + minHold
								+ ", but a shortest hold is at most 365 days and not negative",
						"Leave it unset for none");
			}
			if (minHold != null && maxHold != null && minHold.compareTo(maxHold) > 0) {
				throw new LockConfigurationException(LockError.INVALID_MIN_HOLD,
						"The shortest hold (minHold) is " + minHold + ", but the longest hold (maxHold) is " + maxHold,
						"Choose a minHold of at most maxHold");
			}
			minHold = (minHold != null && minHold.isZero()) ? null : minHold;
			if (minHold != null && permits > 0) {
				throw new LockConfigurationException(LockError.INVALID_MIN_HOLD,
						"A shared lock, or one with permits, was requested with a minHold of " + minHold
								+ ", but only an exclusive lock is kept after its release",
						"Remove the minHold, or request the lock exclusively");
			}
		}

		private static boolean isOutside(@Nullable Duration value, Duration shortest) {
			return value != null && (value.compareTo(shortest) < 0 || value.compareTo(LONGEST) > 0);
		}

	}

}
