package io.distributedlock.support;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import io.distributedlock.Holder;
import io.distributedlock.LockProvider.Attempt;
import io.distributedlock.LockProvider.Grant;
import io.distributedlock.LockProvider.ReleaseOutcome;
import io.distributedlock.OwnerId;

/**
 * What stands in a {@link LocalStore} for one key: the tenure, the reservation, and the
 * line of waiting processes in order of arrival. Touched only within the store's atomic
 * step for that key; all times are nanoseconds of the store's clock.
 */
final class LocalEntry {

	private static final long GRACE = TimeUnit.MILLISECONDS.toNanos(100);

	private static final long POLL_BOUND = TimeUnit.SECONDS.toNanos(1);

	private static final long PLACE_LIFE = 3 * POLL_BOUND;

	private final Map<OwnerId, LocalPlace> line = new LinkedHashMap<>(4);

	private @Nullable Tenure tenure;

	private @Nullable LocalPlace reserved;

	private long reservedUntil;

	Attempt attempt(LocalClaim claim, LongSupplier orders, long now) {
		dropWhatLapsed(now);
		Tenure present = this.tenure;
		if (present != null && present.owner.equals(claim.owner())) {
			return granted(claim, present, now);
		}
		if (present == null && (this.reserved == null || this.reserved.process().equals(claim.process()))) {
			this.line.remove(claim.process());
			this.reserved = null;
			this.tenure = new Tenure(claim, orders.getAsLong(), now);
			return granted(claim, this.tenure, now);
		}
		if (claim.willWait()) {
			this.line.computeIfAbsent(claim.process(), (process) -> new LocalPlace(process, claim.changed()))
				.refresh(claim.contender(), claim.changed(), now + PLACE_LIFE);
		}
		return (present != null) ? busy(present, now)
				: new Attempt.Busy(Duration.ofNanos(this.reservedUntil - now), null);
	}

	private static Attempt granted(LocalClaim claim, Tenure tenure, long now) {
		return new Attempt.Granted(
				new Grant(claim.key(), claim.owner(), tenure.order, Duration.ofNanos(tenure.until - now)));
	}

	private static Attempt busy(Tenure tenure, long now) {
		long remaining = tenure.until - now;
		return new Attempt.Busy(Duration.ofNanos(Math.min(remaining, POLL_BOUND)),
				new Holder(tenure.label, Duration.ofNanos(now - tenure.since), Duration.ofNanos(remaining)));
	}

	boolean renew(OwnerId owner, Duration lease, long now) {
		if (this.tenure == null || !this.tenure.owner.equals(owner) || this.tenure.hasExpired(now)) {
			return false;
		}
		this.tenure.until = now + lease.toNanos();
		return true;
	}

	ReleaseOutcome release(OwnerId owner, long now, List<Runnable> signals) {
		if (this.tenure == null || !this.tenure.owner.equals(owner)) {
			return ReleaseOutcome.NOT_HELD;
		}
		OwnerId releaser = this.tenure.process;
		this.tenure = null;
		passOn(releaser, now, signals);
		return ReleaseOutcome.RELEASED;
	}

	ReleaseOutcome withdraw(OwnerId process, long contender, long now, List<Runnable> signals) {
		LocalPlace place = this.line.get(process);
		if (place == null || !place.mayBeWithdrawnBy(contender)) {
			return ReleaseOutcome.NOT_HELD;
		}
		this.line.remove(process);
		if (this.reserved == place) {
			passOn(process, now, signals);
		}
		return ReleaseOutcome.RELEASED;
	}

	private void passOn(OwnerId leaving, long now, List<Runnable> signals) {
		this.reserved = null;
		dropWhatLapsed(now);
		for (LocalPlace place : this.line.values()) {
			if (place.awaitsItsTurn() && !place.process().equals(leaving)) {
				this.reserved = place;
				this.reservedUntil = now + GRACE;
				place.giveTurn(this.reservedUntil);
				signals.add(place.changed());
				return;
			}
		}
		this.line.values().forEach((place) -> signals.add(place.changed()));
	}

	boolean expire(long now) {
		if (this.tenure == null || this.tenure.hasExpired(now)) {
			return false;
		}
		this.tenure.until = now;
		return true;
	}

	boolean isEmpty(long now) {
		dropWhatLapsed(now);
		return this.tenure == null && this.reserved == null && this.line.isEmpty();
	}

	private void dropWhatLapsed(long now) {
		if (this.tenure != null && this.tenure.hasExpired(now)) {
			this.tenure = null;
		}
		if (this.reserved != null && now - this.reservedUntil >= 0) {
			this.reserved = null;
		}
		this.line.values().removeIf((place) -> place.hasLapsed(now));
	}

	private static final class Tenure {

		private final OwnerId owner;

		private final OwnerId process;

		private final String label;

		private final long order;

		private final long since;

		private long until;

		Tenure(LocalClaim claim, long order, long now) {
			this.owner = claim.owner();
			this.process = claim.process();
			this.label = claim.label();
			this.order = order;
			this.since = now;
			this.until = now + claim.lease().toNanos();
		}

		boolean hasExpired(long now) {
			return now - this.until >= 0;
		}

	}

}
