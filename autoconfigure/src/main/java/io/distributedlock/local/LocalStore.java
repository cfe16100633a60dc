package io.distributedlock.local;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoredLock;

/**
 * A lock store in memory. Several {@link LocalLockProvider}s over one store contend as if
 * they were processes of their own.
 * <p>
 * Each command is one atomic step on its key. A key without a holder and without waiters
 * has no entry. Orders come from one counter for all keys that follows the store's clock,
 * so that they rise although entries are removed. That clock begins with the date, so
 * that they rise across a restart too, as long as the machine's date is not set back.
 * Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class LocalStore {

	private static final int COMMANDS_PER_SCAN = 1024;

	private final ConcurrentHashMap<LockKey, LocalLock> entries = new ConcurrentHashMap<>();

	private final RisingOrders orders = new RisingOrders();

	private final AtomicLong commandsToScan = new AtomicLong(COMMANDS_PER_SCAN);

	private final AtomicBoolean scanning = new AtomicBoolean();

	private final LongSupplier nanoTime;

	private long mostEntries;

	/** Creates an empty store. */
	public LocalStore() {
		this(clock());
	}

	/**
	 * Creates an empty store with a clock of its own.
	 * @param nanoTime the time in nanoseconds since any origin, never falling
	 */
	public LocalStore(LongSupplier nanoTime) {
		this.nanoTime = nanoTime;
	}

	/** Returns the nanoseconds since the epoch, of which the date is read only once. */
	private static LongSupplier clock() {
		long origin = ChronoUnit.NANOS.between(Instant.EPOCH, Instant.now()) - System.nanoTime();
		return () -> origin + System.nanoTime();
	}

	AttemptResult attempt(LocalAttempt attempt) {
		sweepAtTimes();
		List<Runnable> signals = new ArrayList<>(1);
		AttemptResult result = step(attempt.key(),
				(entry, now) -> entry.attempt(attempt, () -> this.orders.next(now / 1000), now, signals));
		signals.forEach(Runnable::run);
		return result;
	}

	boolean renew(LockKey key, OwnerId owner, Duration lease) {
		return step(key, (entry, now) -> entry.renew(owner, lease, now));
	}

	ReleaseOutcome release(LockKey key, OwnerId owner, Duration keepFor) {
		List<Runnable> signals = new ArrayList<>(1);
		ReleaseOutcome outcome = step(key, (entry, now) -> entry.release(owner, keepFor, now, signals));
		signals.forEach(Runnable::run);
		return outcome;
	}

	ReleaseOutcome withdraw(LockKey key, LocalContender contender, long number) {
		List<Runnable> signals = new ArrayList<>(1);
		ReleaseOutcome outcome = step(key, (entry, now) -> entry.withdraw(contender, number, now, signals));
		signals.forEach(Runnable::run);
		return outcome;
	}

	boolean expire(LockKey key) {
		return step(key, LocalLock::expire);
	}

	/** Finds the present grant of a key, or the shares of it. */
	List<StoredLock> find(LockKey key) {
		return step(key, (entry, now) -> entry.describe(key, now));
	}

	/** Returns the first grants in the order of their keys. */
	List<StoredLock> list(int limit) {
		return this.entries.keySet().stream().sorted().flatMap((key) -> find(key).stream()).limit(limit).toList();
	}

	/** Counts the entries, including expired ones that were not swept yet. */
	int size() {
		return this.entries.size();
	}

	private <T> T step(LockKey key, BiFunction<LocalLock, Long, T> step) {
		AtomicReference<@Nullable T> result = new AtomicReference<>();
		this.entries.compute(key, (same, present) -> {
			LocalLock entry = (present != null) ? present : new LocalLock();
			long now = this.nanoTime.getAsLong();
			result.setPlain(step.apply(entry, now));
			return entry.isEmpty(now) ? null : entry;
		});
		return Objects.requireNonNull(result.getPlain());
	}

	/**
	 * Removes expired entries whose keys are never requested again. The more entries
	 * there are or once were, the rarer a scan is: a table that was emptied is as long to
	 * walk.
	 */
	private void sweepAtTimes() {
		if (this.commandsToScan.decrementAndGet() > 0 || !this.scanning.compareAndSet(false, true)) {
			return;
		}
		try {
			for (LockKey key : this.entries.keySet()) {
				step(key, (entry, now) -> key);
			}
			this.mostEntries = Math.max(this.mostEntries, this.entries.mappingCount());
			this.commandsToScan.set(COMMANDS_PER_SCAN + this.mostEntries);
		}
		finally {
			this.scanning.set(false);
		}
	}

}
