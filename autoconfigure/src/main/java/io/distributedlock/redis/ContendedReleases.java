package io.distributedlock.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import io.distributedlock.redis.script.RedisLayout;

/**
 * The last contended release of each lock by this process. A process that acquired a lock
 * again after one is likely to want it again after the next. The script of that release
 * then enters it in the wait queue behind the others, so that its next attempt needs no
 * command.
 * <p>
 * An entry that no attempt claims is withdrawn when the lock is reserved for it, and the
 * next release keeps none. Safe for use by many threads.
 */
final class ContendedReleases {

	/** Further locks are not remembered while these are in use. */
	static final int CAPACITY = 1_000;

	private static final long USE_NANOS = RedisLayout.POLL_INTERVAL.toNanos();

	private static final long FRESH_NANOS = RedisLayout.RESERVATION.toNanos();

	private final Map<String, Release> releases = new ConcurrentHashMap<>();

	private final AtomicLong removals = new AtomicLong();

	private final LongSupplier clock;

	/**
	 * Creates an empty collection.
	 * @param clock the nano time
	 */
	ContendedReleases(LongSupplier clock) {
		this.clock = clock;
	}

	/** Whether the next release of a lock should enter this process in the queue. */
	boolean shouldKeepEntry(String lockName) {
		Release last = this.releases.isEmpty() ? null : this.releases.get(lockName);
		return last != null && last.grantedAgain();
	}

	/**
	 * Records that a lock was released to another process.
	 * @param score the score of the entry that the release has made, or 0
	 * @param alone whether no further process is in the queue
	 * @param removalsBefore the {@linkplain #removals() removals} before the release was
	 * sent: the notification for the entry may have come before the reply to the release
	 */
	void recordContended(String lockName, long score, boolean alone, long removalsBefore) {
		long now = this.clock.getAsLong();
		if (this.releases.size() >= CAPACITY && !this.releases.containsKey(lockName)) {
			this.releases.values().removeIf((release) -> now - release.nanos() > USE_NANOS);
			if (this.releases.size() >= CAPACITY) {
				return;
			}
		}
		this.releases.compute(lockName, (name, last) -> new Release((removals() == removalsBefore) ? score : 0, now,
				alone, false, false, (last != null) ? last.waitNanos() : 0));
	}

	/** Records that a release has found nobody in the wait queue. */
	void recordUncontended(String lockName) {
		if (!this.releases.isEmpty()) {
			this.releases.remove(lockName);
		}
	}

	/** Records that this process has acquired a lock. */
	void recordGrant(String lockName) {
		if (!this.releases.isEmpty()) {
			this.releases.computeIfPresent(lockName, (name, last) -> new Release(last.score(), last.nanos(),
					last.alone(), last.claimed(), last.claimed(), this.clock.getAsLong() - last.nanos()));
		}
	}

	/**
	 * Returns the time from a contended release of a lock to the next grant to this
	 * process, in nanoseconds.
	 * @return the last such time, or 0 if it is not known
	 */
	long lastWaitNanos(String lockName) {
		Release last = this.releases.get(lockName);
		return (last != null) ? last.waitNanos() : 0;
	}

	/**
	 * Claims the entry for an attempt that waits.
	 * @return what is known of the lock since its last release, or {@code null} if that
	 * was long ago or not contended
	 */
	@Nullable KeptEntry claimEntry(String lockName) {
		Release last = this.releases.isEmpty() ? null : this.releases.get(lockName);
		if (last == null || last.claimed()) {
			return null;
		}
		long age = this.clock.getAsLong() - last.nanos();
		if (age > USE_NANOS) {
			this.releases.remove(lockName, last);
			return null;
		}
		return this.releases.replace(lockName, last,
				new Release(0, last.nanos(), last.alone(), true, false, last.waitNanos()))
						? new KeptEntry(last.score(), Duration.ofNanos(FRESH_NANOS - age), last.alone()) : null;
	}

	/** Removes an entry for which the lock is reserved while nobody waits. */
	void removeEntry(String lockName) {
		// In one step, since the reply to the release may be handled at the same time.
		this.releases.compute(lockName, (name, last) -> {
			this.removals.incrementAndGet();
			return null;
		});
	}

	/** The number of entries that were removed. */
	long removals() {
		return this.removals.get();
	}

	/** Removes all entries; returns the locks of those that nobody has claimed. */
	List<String> removeUnclaimed() {
		List<String> unclaimed = new ArrayList<>();
		this.releases.forEach((lockName, release) -> {
			if (release.score() > 0 && this.releases.remove(lockName, release)) {
				unclaimed.add(lockName);
			}
		});
		return unclaimed;
	}

	/**
	 * What is known of a lock that this process has just released to another one.
	 *
	 * @param score the score of this process in the wait queue, or 0 if it has no entry
	 * @param reserved how long the reservation still lasts, if it is not used; negative
	 * after it
	 * @param alone whether no other process waits that would check the reservation
	 */
	record KeptEntry(long score, Duration reserved, boolean alone) {
	}

	/**
	 * A contended release.
	 *
	 * @param score the score of the entry that was made and not yet claimed, or 0
	 * @param nanos when it was
	 * @param alone whether it left no further process in the queue
	 * @param claimed whether this process has attempted again since
	 * @param grantedAgain whether it has acquired the lock by that
	 * @param waitNanos the time from such a release to the next grant, or 0
	 */
	private record Release(long score, long nanos, boolean alone, boolean claimed, boolean grantedAgain,
			long waitNanos) {
	}

}
