package io.distributedlock.local;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;

/**
 * What stands in a {@link LocalStore} for one key: the grant, the reservation, and the
 * waitQueue of waiting processes in order of arrival. Touched only within the store's
 * atomic step for that key; all times are nanoseconds of the store's clock.
 */
final class LocalLock {

	private static final long GRACE = TimeUnit.MILLISECONDS.toNanos(100);

	private static final long POLL_BOUND = TimeUnit.SECONDS.toNanos(1);

	private static final long PLACE_LIFE = 3 * POLL_BOUND;

	private final Map<OwnerId, LocalQueueEntry> waitQueue = new LinkedHashMap<>(4);

	private @Nullable Holding holding;

	private @Nullable LocalQueueEntry reserved;

	private long reservedUntil;

	AttemptResult attempt(LocalAttempt attempt, LongSupplier orders, long now) {
		dropWhatLapsed(now);
		Holding present = this.holding;
		if (present != null && present.owner.equals(attempt.owner())) {
			return granted(attempt, present, now);
		}
		if (present == null && (this.reserved == null || this.reserved.process().equals(attempt.process()))) {
			this.waitQueue.remove(attempt.process());
			this.reserved = null;
			this.holding = new Holding(attempt, orders.getAsLong(), now);
			return granted(attempt, this.holding, now);
		}
		if (attempt.willWait()) {
			this.waitQueue
				.computeIfAbsent(attempt.process(), (process) -> new LocalQueueEntry(process, attempt.changed()))
				.refresh(attempt.contender(), attempt.changed(), now + PLACE_LIFE);
		}
		return (present != null) ? busy(present, now)
				: new AttemptResult.Busy(Duration.ofNanos(this.reservedUntil - now), null);
	}

	private static AttemptResult granted(LocalAttempt attempt, Holding holding, long now) {
		return new AttemptResult.Granted(
				new LockGrant(attempt.key(), attempt.owner(), holding.order, Duration.ofNanos(holding.until - now)));
	}

	private static AttemptResult busy(Holding holding, long now) {
		long remaining = holding.until - now;
		return new AttemptResult.Busy(Duration.ofNanos(Math.min(remaining, POLL_BOUND)),
				new LockHolder(holding.label, Duration.ofNanos(now - holding.since), Duration.ofNanos(remaining)));
	}

	boolean renew(OwnerId owner, Duration lease, long now) {
		if (this.holding == null || !this.holding.owner.equals(owner) || this.holding.hasExpired(now)) {
			return false;
		}
		this.holding.until = now + lease.toNanos();
		return true;
	}

	ReleaseOutcome release(OwnerId owner, long now, List<Runnable> signals) {
		if (this.holding == null || !this.holding.owner.equals(owner)) {
			return ReleaseOutcome.NOT_HELD;
		}
		OwnerId releaser = this.holding.process;
		this.holding = null;
		passOn(releaser, now, signals);
		return ReleaseOutcome.RELEASED;
	}

	ReleaseOutcome withdraw(OwnerId process, long contender, long now, List<Runnable> signals) {
		LocalQueueEntry entry = this.waitQueue.get(process);
		if (entry == null || !entry.mayBeWithdrawnBy(contender)) {
			return ReleaseOutcome.NOT_HELD;
		}
		this.waitQueue.remove(process);
		if (this.reserved == entry) {
			passOn(process, now, signals);
		}
		return ReleaseOutcome.RELEASED;
	}

	private void passOn(OwnerId leaving, long now, List<Runnable> signals) {
		this.reserved = null;
		dropWhatLapsed(now);
		for (LocalQueueEntry entry : this.waitQueue.values()) {
			if (entry.awaitsItsTurn() && !entry.process().equals(leaving)) {
				this.reserved = entry;
				this.reservedUntil = now + GRACE;
				entry.giveTurn(this.reservedUntil);
				signals.add(entry.changed());
				return;
			}
		}
		this.waitQueue.values().forEach((entry) -> signals.add(entry.changed()));
	}

	boolean expire(long now) {
		if (this.holding == null || this.holding.hasExpired(now)) {
			return false;
		}
		this.holding.until = now;
		return true;
	}

	boolean isEmpty(long now) {
		dropWhatLapsed(now);
		return this.holding == null && this.reserved == null && this.waitQueue.isEmpty();
	}

	private void dropWhatLapsed(long now) {
		if (this.holding != null && this.holding.hasExpired(now)) {
			this.holding = null;
		}
		if (this.reserved != null && now - this.reservedUntil >= 0) {
			this.reserved = null;
		}
		this.waitQueue.values().removeIf((entry) -> entry.hasLapsed(now));
	}

	private static final class Holding {

		private final OwnerId owner;

		private final OwnerId process;

		private final String label;

		private final long order;

		private final long since;

		private long until;

		Holding(LocalAttempt attempt, long order, long now) {
			this.owner = attempt.owner();
			this.process = attempt.process();
			this.label = attempt.label();
			this.order = order;
			this.since = now;
			this.until = now + attempt.lease().toNanos();
		}

		boolean hasExpired(long now) {
			return now - this.until >= 0;
		}

	}

}
