package io.distributedlock.local;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoredLock;

/**
 * The entry of one key in a {@link LocalStore}: the grant, the reservation, and the wait
 * queue of processes in order of arrival. Accessed only within the store's atomic step
 * for that key; all times are nanoseconds of the store's clock.
 */
final class LocalLock {

	private static final long GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private static final long POLL_BOUND_NANOS = TimeUnit.SECONDS.toNanos(1);

	private static final long ENTRY_LIFE_NANOS = 3 * POLL_BOUND_NANOS;

	private final Map<OwnerId, LocalQueueEntry> waitQueue = new LinkedHashMap<>(4);

	private @Nullable Holding holding;

	private @Nullable LocalQueueEntry reserved;

	private long reservedUntilNanos;

	AttemptResult attempt(LocalAttempt attempt, LongSupplier orders, long nowNanos) {
		removeExpired(nowNanos);
		Holding present = this.holding;
		if (present != null && present.isOf(attempt.owner())) {
			return granted(attempt, present, nowNanos);
		}
		if (present == null && (this.reserved == null || this.reserved.process().equals(attempt.process()))) {
			this.waitQueue.remove(attempt.process());
			this.reserved = null;
			this.holding = new Holding(attempt, orders.getAsLong(), nowNanos);
			return granted(attempt, this.holding, nowNanos);
		}
		if (attempt.willWait()) {
			this.waitQueue
				.computeIfAbsent(attempt.process(), (process) -> new LocalQueueEntry(process, attempt.changed()))
				.refresh(attempt.contender(), attempt.changed(), nowNanos + ENTRY_LIFE_NANOS);
		}
		return (present != null) ? busy(present, nowNanos)
				: new AttemptResult.Busy(Duration.ofNanos(this.reservedUntilNanos - nowNanos), null);
	}

	private static AttemptResult granted(LocalAttempt attempt, Holding holding, long nowNanos) {
		return new AttemptResult.Granted(new LockGrant(attempt.key(), attempt.owner(), holding.order,
				Duration.ofNanos(holding.untilNanos - nowNanos)));
	}

	private static AttemptResult busy(Holding holding, long nowNanos) {
		long remaining = holding.untilNanos - nowNanos;
		return new AttemptResult.Busy(Duration.ofNanos(Math.min(remaining, POLL_BOUND_NANOS)),
				holding.describeHolder(nowNanos));
	}

	/** Describes the present grant, or that of a key that is kept after its release. */
	@Nullable StoredLock describe(LockKey key, long nowNanos) {
		Holding present = this.holding;
		return (present != null && !present.hasExpired(nowNanos))
				? new StoredLock(key.encoded(), present.owner, present.order, present.describeHolder(nowNanos)) : null;
	}

	boolean renew(OwnerId owner, Duration lease, long nowNanos) {
		if (this.holding == null || !this.holding.isOf(owner) || this.holding.hasExpired(nowNanos)) {
			return false;
		}
		this.holding.untilNanos = nowNanos + lease.toNanos();
		return true;
	}

	ReleaseOutcome release(OwnerId owner, Duration keepFor, long nowNanos, List<Runnable> signals) {
		if (this.holding == null || !this.holding.isOf(owner)) {
			return ReleaseOutcome.NOT_HELD;
		}
		if (!keepFor.isZero()) {
			this.holding.keep(nowNanos + keepFor.toNanos());
			this.waitQueue.values().forEach((entry) -> signals.add(entry.changed()));
			return ReleaseOutcome.RELEASED;
		}
		OwnerId releaser = this.holding.process;
		this.holding = null;
		reserveForNext(releaser, nowNanos, signals);
		return ReleaseOutcome.RELEASED;
	}

	ReleaseOutcome withdraw(OwnerId process, long contender, long nowNanos, List<Runnable> signals) {
		LocalQueueEntry entry = this.waitQueue.get(process);
		if (entry == null || !entry.mayBeWithdrawnBy(contender)) {
			return ReleaseOutcome.NOT_HELD;
		}
		this.waitQueue.remove(process);
		if (this.reserved == entry) {
			reserveForNext(process, nowNanos, signals);
		}
		return ReleaseOutcome.RELEASED;
	}

	private void reserveForNext(OwnerId leaving, long nowNanos, List<Runnable> signals) {
		this.reserved = null;
		removeExpired(nowNanos);
		for (LocalQueueEntry entry : this.waitQueue.values()) {
			if (entry.mayBeReserved() && !entry.process().equals(leaving)) {
				this.reserved = entry;
				this.reservedUntilNanos = nowNanos + GRACE_NANOS;
				entry.reserve(this.reservedUntilNanos);
				signals.add(entry.changed());
				return;
			}
		}
		this.waitQueue.values().forEach((entry) -> signals.add(entry.changed()));
	}

	boolean expire(long nowNanos) {
		if (this.holding == null || this.holding.hasExpired(nowNanos)) {
			return false;
		}
		this.holding.untilNanos = nowNanos;
		return true;
	}

	boolean isEmpty(long nowNanos) {
		removeExpired(nowNanos);
		return this.holding == null && this.reserved == null && this.waitQueue.isEmpty();
	}

	private void removeExpired(long nowNanos) {
		if (this.holding != null && this.holding.hasExpired(nowNanos)) {
			this.holding = null;
		}
		if (this.reserved != null && nowNanos - this.reservedUntilNanos >= 0) {
			this.reserved = null;
		}
		this.waitQueue.values().removeIf((entry) -> entry.hasExpired(nowNanos));
	}

	private static final class Holding {

		/** Null while the key is kept after its release: nobody owns it. */
		private @Nullable OwnerId owner;

		private final OwnerId process;

		private final String label;

		private final long order;

		private final long sinceNanos;

		private long untilNanos;

		Holding(LocalAttempt attempt, long order, long nowNanos) {
			this.owner = attempt.owner();
			this.process = attempt.process();
			this.label = attempt.label();
			this.order = order;
			this.sinceNanos = nowNanos;
			this.untilNanos = nowNanos + attempt.lease().toNanos();
		}

		boolean isOf(OwnerId candidate) {
			return candidate.equals(this.owner);
		}

		LockHolder describeHolder(long nowNanos) {
			return LockHolder.of(this.label)
				.withHeldFor(Duration.ofNanos(nowNanos - this.sinceNanos))
				.withRemaining(Duration.ofNanos(this.untilNanos - nowNanos))
				.withReleased(this.owner == null);
		}

		void keep(long keptUntilNanos) {
			this.owner = null;
			this.untilNanos = keptUntilNanos;
		}

		boolean hasExpired(long nowNanos) {
			return nowNanos - this.untilNanos >= 0;
		}

	}

}
