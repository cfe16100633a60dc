package io.distributedlock.local;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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

	private final Map<OwnerId, QueuedProcess> waitQueue = new LinkedHashMap<>(4);

	private @Nullable Holding holding;

	/** The process for which the key is reserved. */
	private @Nullable OwnerId reserved;

	private long reservedUntilNanos;

	AttemptResult attempt(LocalAttempt attempt, LongSupplier orders, long nowNanos) {
		removeExpired(nowNanos);
		Holding present = this.holding;
		if (present != null && present.isOf(attempt.owner())) {
			return granted(attempt, present, nowNanos);
		}
		if (present == null && (this.reserved == null || this.reserved.equals(attempt.process()))) {
			this.waitQueue.remove(attempt.process());
			this.reserved = null;
			Holding begun = new Holding(attempt.owner(), attempt.process(), attempt.label(), orders.getAsLong(),
					nowNanos, nowNanos + attempt.lease().toNanos());
			this.holding = begun;
			return granted(attempt, begun, nowNanos);
		}
		if (attempt.willWait()) {
			this.waitQueue.compute(attempt.process(),
					(process, former) -> new QueuedProcess(
							(former != null) ? Math.max(former.contender, attempt.contender()) : attempt.contender(),
							attempt.changed(), nowNanos + ENTRY_LIFE_NANOS, false));
		}
		return (present != null)
				? new AttemptResult.Busy(Duration.ofNanos(Math.min(present.untilNanos - nowNanos, POLL_BOUND_NANOS)),
						present.describeHolder(nowNanos))
				: new AttemptResult.Busy(Duration.ofNanos(this.reservedUntilNanos - nowNanos), null);
	}

	private static AttemptResult granted(LocalAttempt attempt, Holding holding, long nowNanos) {
		return new AttemptResult.Granted(new LockGrant(attempt.key(), attempt.owner(), holding.order,
				Duration.ofNanos(holding.untilNanos - nowNanos)));
	}

	/** Describes the present grant, or that of a key that is kept after its release. */
	Optional<StoredLock> describe(LockKey key, long nowNanos) {
		removeExpired(nowNanos);
		return Optional.ofNullable(this.holding)
			.map((present) -> new StoredLock(key.encoded(), present.owner, present.order,
					present.describeHolder(nowNanos)));
	}

	boolean renew(OwnerId owner, Duration lease, long nowNanos) {
		removeExpired(nowNanos);
		if (this.holding == null || !this.holding.isOf(owner)) {
			return false;
		}
		this.holding = this.holding.lasting(owner, nowNanos + lease.toNanos());
		return true;
	}

	ReleaseOutcome release(OwnerId owner, Duration keepFor, long nowNanos, List<Runnable> signals) {
		Holding present = this.holding;
		if (present == null || !present.isOf(owner)) {
			return ReleaseOutcome.NOT_HELD;
		}
		if (keepFor.isZero()) {
			this.holding = null;
			reserveForNext(present.process, nowNanos, signals);
		}
		else {
			this.holding = present.lasting(null, nowNanos + keepFor.toNanos());
			this.waitQueue.values().forEach((entry) -> signals.add(entry.changed));
		}
		return ReleaseOutcome.RELEASED;
	}

	/** Leaves the entry alone if a later contender of the process uses it. */
	ReleaseOutcome withdraw(OwnerId process, long contender, long nowNanos, List<Runnable> signals) {
		QueuedProcess entry = this.waitQueue.get(process);
		if (entry == null || entry.contender > contender) {
			return ReleaseOutcome.NOT_HELD;
		}
		this.waitQueue.remove(process);
		if (process.equals(this.reserved)) {
			reserveForNext(process, nowNanos, signals);
		}
		return ReleaseOutcome.RELEASED;
	}

	private void reserveForNext(OwnerId leaving, long nowNanos, List<Runnable> signals) {
		this.reserved = null;
		removeExpired(nowNanos);
		for (Map.Entry<OwnerId, QueuedProcess> queued : this.waitQueue.entrySet()) {
			if (!queued.getValue().reservedBefore && !queued.getKey().equals(leaving)) {
				this.reserved = queued.getKey();
				this.reservedUntilNanos = nowNanos + GRACE_NANOS;
				queued.setValue(queued.getValue().reservedUntil(this.reservedUntilNanos));
				signals.add(queued.getValue().changed);
				return;
			}
		}
		this.waitQueue.values().forEach((entry) -> signals.add(entry.changed));
	}

	boolean expire(long nowNanos) {
		removeExpired(nowNanos);
		boolean held = this.holding != null;
		this.holding = null;
		return held;
	}

	boolean isEmpty(long nowNanos) {
		removeExpired(nowNanos);
		return this.holding == null && this.reserved == null && this.waitQueue.isEmpty();
	}

	private void removeExpired(long nowNanos) {
		if (this.holding != null && nowNanos - this.holding.untilNanos >= 0) {
			this.holding = null;
		}
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
	private record Holding(@Nullable OwnerId owner, OwnerId process, String label, long order, long sinceNanos,
			long untilNanos) {

		boolean isOf(OwnerId candidate) {
			return candidate.equals(this.owner);
		}

		Holding lasting(@Nullable OwnerId owner, long untilNanos) {
			return new Holding(owner, this.process, this.label, this.order, this.sinceNanos, untilNanos);
		}

		LockHolder describeHolder(long nowNanos) {
			return LockHolder.of(this.label)
				.withHeldFor(Duration.ofNanos(nowNanos - this.sinceNanos))
				.withRemaining(Duration.ofNanos(this.untilNanos - nowNanos))
				.withReleased(this.owner == null);
		}

	}

	/**
	 * The entry of a process in the wait queue.
	 *
	 * @param contender the latest contender that uses it
	 * @param changed the signal of that contender
	 * @param untilNanos when it expires
	 * @param reservedBefore whether the process has not attempted since the key was last
	 * reserved for it, which would show that it is alive
	 */
	private record QueuedProcess(long contender, Runnable changed, long untilNanos, boolean reservedBefore) {

		QueuedProcess reservedUntil(long nanos) {
			return new QueuedProcess(this.contender, this.changed,
					(nanos - this.untilNanos > 0) ? nanos : this.untilNanos, true);
		}

	}

}
