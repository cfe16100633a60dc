package io.distributedlock.engine.grant;

import java.time.Duration;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockMode;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.concurrent.Nanos;

/**
 * The terms of a grant after the defaults were applied.
 */
public record LockTerms(Duration lease, boolean renew, @Nullable Duration maxHold, @Nullable Duration minHold,
		int permits) {

	public static LockTerms of(LockRequest request, LockSettings settings) {
		Duration maxHold = (request.maxHold() != null) ? request.maxHold() : settings.maxHold();
		if (request.minHold() != null && request.maxHold() == null) {
			// Refuses one that is longer than the default of the longest hold.
			request.withMaxHold(maxHold);
		}
		return new LockTerms((request.lease() != null) ? request.lease() : settings.lease(), request.renew(), maxHold,
				request.minHold(), request.permits());
	}

	public LockMode mode() {
		return LockMode.ofPermits(this.permits);
	}

	/** Whether a grant that was acquired on these terms fits others. */
	public boolean suit(LockTerms others) {
		return this.renew == others.renew && this.lease.equals(others.lease)
				&& Objects.equals(this.minHold, others.minHold);
	}

	/** Returns the shortest hold in nanoseconds, 0 for none. */
	public long minHoldNanos() {
		return (this.minHold != null) ? this.minHold.toNanos() : 0;
	}

	/** Returns the lease, or a time that is longer. */
	public Duration longerOf(long nanos) {
		return (nanos > this.lease.toNanos()) ? Nanos.ceilMillis(nanos) : this.lease;
	}

	/**
	 * Returns the lease of a key whose request waits for further keys: whenever the hold
	 * begins within the lease, its shortest hold is left.
	 */
	public Duration leaseOfPart() {
		return (this.minHold != null) ? Nanos.ceilMillis(this.lease.toNanos() + minHoldNanos()) : this.lease;
	}

}
