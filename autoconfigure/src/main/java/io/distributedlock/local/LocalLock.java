package io.distributedlock.local;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
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
 * The entry of one key in a {@link LocalStore}: the grants, the reservation, and the wait
 * queue of contenders in order of arrival. Accessed only within the store's atomic step
 * for that key; all times are nanoseconds of the store's clock.
 * <p>
 * A key that is free, or reserved for the contender, is granted exclusively. A share is
 * granted beside other shares, as many as its own limit allows, to a contender before
 * which none waits: so readers that come do not keep out a writer that waits. Each share
 * that is granted reserves the next one for the contender behind it, if that wants one.
 */
final class LocalLock {

	private static final long GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private static final long POLL_BOUND_NANOS = TimeUnit.SECONDS.toNanos(1);

	private static final long ENTRY_LIFE_NANOS = 3 * POLL_BOUND_NANOS;

	private final Map<LocalContender, QueueEntry> waitQueue = new LinkedHashMap<>(4);

	/** The only grant, or shares: never an exclusive grant beside another one. */
	private final List<Holding> holdings = new ArrayList<>(1);

	/** The contender for which the key, or a share of it, is reserved. */
	private @Nullable LocalContender reserved;

	private long reservedUntilNanos;

	AttemptResult attempt(LocalAttempt attempt, LongSupplier orders, long nowNanos, List<Runnable> signals) {
		removeExpired(nowNanos);
		LocalContender contender = attempt.contender();
		Holding own = find(attempt.owner());
		if (own != null) {
			return granted(attempt, own, nowNanos);
		}
		if (hasPlaceFor(contender) && isNext(contender)) {
			this.waitQueue.remove(contender);
			this.reserved = null;
			Holding begun = new Holding(attempt.owner(), contender, attempt.label(), orders.getAsLong(), nowNanos,
					nowNanos + attempt.lease().toNanos());
			this.holdings.add(begun);
			if (contender.isShare()) {
				reserveForNext(contender, nowNanos, signals);
			}
			return granted(attempt, begun, nowNanos);
		}
		if (attempt.willWait()) {
			this.waitQueue.compute(contender,
					(same, former) -> new QueueEntry(
							(former != null) ? Math.max(former.number, attempt.number()) : attempt.number(),
							attempt.changed(), nowNanos + ENTRY_LIFE_NANOS, false));
		}
		if (this.reserved == null && hasPlaceFor(contender)) {
			reserveForNext(contender, nowNanos, signals);
		}
		return busy(contender, nowNanos);
	}

	/** Whether the present grants leave a place for one of a contender. */
	private boolean hasPlaceFor(LocalContender contender) {
		return this.holdings.isEmpty()
				|| (contender.isShare() && isShared() && this.holdings.size() < contender.limit());
	}

	private boolean isShared() {
		return !this.holdings.isEmpty() && this.holdings.get(0).contender.isShare();
	}

	/** Whether no contender comes before one. */
	private boolean isNext(LocalContender contender) {
		if (this.reserved != null || !contender.isShare()) {
			return this.reserved == null || this.reserved.equals(contender);
		}
		for (Map.Entry<LocalContender, QueueEntry> queued : this.waitQueue.entrySet()) {
			if (queued.getKey().equals(contender)) {
				return true;
			}
			if (!queued.getValue().reservedBefore) {
				return false;
			}
		}
		return true;
	}

	private AttemptResult busy(LocalContender contender, long nowNanos) {
		Comparator<Holding> byEnd = Comparator.comparingLong((holding) -> holding.untilNanos - nowNanos);
		// A share needs one of the others to end, an exclusive grant all of them.
		return this.holdings.stream()
			.min(contender.isShare() ? byEnd : byEnd.reversed())
			.map((holding) -> new AttemptResult.Busy(
					Duration.ofNanos(Math.min(retryNanos(holding.untilNanos, nowNanos), POLL_BOUND_NANOS)),
					holding.describeHolder(nowNanos)))
			.orElseGet(() -> new AttemptResult.Busy(Duration.ofNanos(this.reservedUntilNanos - nowNanos), null));
	}

	/** A share may be reserved beside others for a process that has died. */
	private long retryNanos(long untilNanos, long nowNanos) {
		long held = untilNanos - nowNanos;
		return (this.reserved != null) ? Math.min(this.reservedUntilNanos - nowNanos, held) : held;
	}

	private static AttemptResult granted(LocalAttempt attempt, Holding holding, long nowNanos) {
		return new AttemptResult.Granted(new LockGrant(attempt.key(), attempt.owner(), holding.order,
				Duration.ofNanos(holding.untilNanos - nowNanos)));
	}

	private @Nullable Holding find(OwnerId owner) {
		for (Holding holding : this.holdings) {
			if (owner.equals(holding.owner)) {
				return holding;
			}
		}
		return null;
	}

	/** Describes the present grants, or that of a key that is kept after its release. */
	List<StoredLock> describe(LockKey key, long nowNanos) {
		removeExpired(nowNanos);
		return this.holdings.stream()
			.map((present) -> new StoredLock(key.encoded(), present.owner, present.order,
					present.describeHolder(nowNanos)))
			.toList();
	}

	boolean renew(OwnerId owner, Duration lease, long nowNanos) {
		removeExpired(nowNanos);
		Holding present = find(owner);
		if (present != null) {
			this.holdings.set(this.holdings.indexOf(present), present.lasting(owner, nowNanos + lease.toNanos()));
		}
		return present != null;
	}

	ReleaseOutcome release(OwnerId owner, Duration keepFor, long nowNanos, List<Runnable> signals) {
		Holding present = find(owner);
		if (present == null) {
			return ReleaseOutcome.NOT_HELD;
		}
		this.holdings.remove(present);
		removeExpired(nowNanos);
		if (keepFor.isZero()) {
			if (this.reserved == null) {
				reserveForNext(present.contender, nowNanos, signals);
			}
		}
		else {
			this.holdings.add(present.lasting(null, nowNanos + keepFor.toNanos()));
			this.waitQueue.values().forEach((entry) -> signals.add(entry.changed));
		}
		return ReleaseOutcome.RELEASED;
	}

	/** Leaves the entry alone if a later contender of the process uses it. */
	ReleaseOutcome withdraw(LocalContender contender, long number, long nowNanos, List<Runnable> signals) {
		QueueEntry entry = this.waitQueue.get(contender);
		if (entry == null || entry.number > number) {
			return ReleaseOutcome.NOT_HELD;
		}
		this.waitQueue.remove(contender);
		if (contender.equals(this.reserved) || (this.reserved == null && isShared())) {
			reserveForNext(contender, nowNanos, signals);
		}
		return ReleaseOutcome.RELEASED;
	}

	/**
	 * Reserves the key, or the next share of it, for the first in the queue. One that has
	 * no place yet comes next all the same.
	 * @param leaving who is not meant, unless it waits for a further share
	 */
	private void reserveForNext(LocalContender leaving, long nowNanos, List<Runnable> signals) {
		this.reserved = null;
		removeExpired(nowNanos);
		for (Map.Entry<LocalContender, QueueEntry> queued : this.waitQueue.entrySet()) {
			LocalContender next = queued.getKey();
			if (!queued.getValue().reservedBefore && (next.isShare() || !next.equals(leaving))) {
				if (hasPlaceFor(next)) {
					this.reserved = next;
					this.reservedUntilNanos = nowNanos + GRACE_NANOS;
					queued.setValue(queued.getValue().reservedUntil(this.reservedUntilNanos));
					signals.add(queued.getValue().changed);
				}
				return;
			}
		}
		this.waitQueue.values().forEach((entry) -> signals.add(entry.changed));
	}

	boolean expire(long nowNanos) {
		removeExpired(nowNanos);
		boolean held = !this.holdings.isEmpty();
		this.holdings.clear();
		return held;
	}

	boolean isEmpty(long nowNanos) {
		removeExpired(nowNanos);
		return this.holdings.isEmpty() && this.reserved == null && this.waitQueue.isEmpty();
	}

	private void removeExpired(long nowNanos) {
		this.holdings.removeIf((holding) -> nowNanos - holding.untilNanos >= 0);
		if (this.reserved != null && nowNanos - this.reservedUntilNanos >= 0) {
			this.reserved = null;
		}
		this.waitQueue.values().removeIf((entry) -> nowNanos - entry.untilNanos >= 0);
	}

	/**
	 * A grant.
	 *
	 * @param owner {@code null} while the key is kept after its release: no process owns
	 * it
	 */
	private record Holding(@Nullable OwnerId owner, LocalContender contender, String label, long order, long sinceNanos,
			long untilNanos) {

		Holding lasting(@Nullable OwnerId owner, long untilNanos) {
			return new Holding(owner, this.contender, this.label, this.order, this.sinceNanos, untilNanos);
		}

		LockHolder describeHolder(long nowNanos) {
			return LockHolder.of(this.label)
				.withHeldFor(Duration.ofNanos(nowNanos - this.sinceNanos))
				.withRemaining(Duration.ofNanos(this.untilNanos - nowNanos))
				.withReleased(this.owner == null);
		}

	}

	/**
	 * The entry of a contender in the wait queue.
	 *
	 * @param number the number of the latest contender that uses it
	 * @param changed the signal of that contender
	 * @param untilNanos when it expires
	 * @param reservedBefore whether the process has not attempted since the key was last
	 * reserved for it, which would show that it is alive
	 */
	private record QueueEntry(long number, Runnable changed, long untilNanos, boolean reservedBefore) {

		QueueEntry reservedUntil(long nanos) {
			return new QueueEntry(this.number, this.changed, (nanos - this.untilNanos > 0) ? nanos : this.untilNanos,
					true);
		}

	}

}
