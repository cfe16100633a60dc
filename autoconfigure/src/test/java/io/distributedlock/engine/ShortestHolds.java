package io.distributedlock.engine;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.LockMode;
import io.distributedlock.engine.grant.EngineLease;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;

/**
 * The shortest holds of a simulation, judged by the clock of the store. From the start
 * that a request with a shortest hold makes, the store grants the key to nobody for that
 * time, and at each moment would keep it for the rest, whatever becomes of the process.
 * Nothing else is kept longer than its lease, but what another request had asked for.
 */
final class ShortestHolds {

	/** How much longer than necessary a release may keep a key. */
	private static final Duration LONGEST_EXCESS = Duration.ofMillis(60);

	private final SimulatedWorld world;

	/** What the store has granted, by its order. */
	private final Map<Long, Granted> granted = new HashMap<>();

	/** Grants that a later attempt of their owner, for another request, got once more. */
	private final Set<Long> repeated = new HashSet<>();

	private final Map<LockKey, Long> latestOrders = new HashMap<>();

	private final Map<LockKey, Start> starts = new HashMap<>();

	/** The last start of each grant: a grant that was lost is released late. */
	private final Map<OwnerId, Start> startsOfGrants = new HashMap<>();

	/** When the store frees a key unless it is told otherwise. */
	private final Map<LockKey, Long> keptUntil = new HashMap<>();

	/** The keys that an operator has freed, of which nothing is expected any more. */
	private final Set<LockKey> deleted = new HashSet<>();

	ShortestHolds(SimulatedWorld world) {
		this.world = world;
	}

	void recordDeletion(LockKey key) {
		this.deleted.add(key);
	}

	/** Records a grant at the store, or its repetition. */
	void recordGrant(LockGrant grant) {
		LockKey key = grant.key();
		long now = this.world.now();
		if (!grant.owner().isShare()) {
			this.keptUntil.put(key, now + grant.validity().toNanos());
			this.latestOrders.put(key, grant.order());
		}
		if (this.granted.putIfAbsent(grant.order(), new Granted(grant, now)) != null) {
			this.repeated.add(grant.order());
		}
		else {
			Start last = this.starts.get(key);
			check(last == null || now >= last.untilNanos(), key, () -> key + " was granted "
					+ millis(last.untilNanos() - now) + " before the end of the minHold of " + last.user());
		}
	}

	/** Records a renewal that the store has confirmed. */
	void recordRenewal(LockGrant grant, Duration lease) {
		if (grant.owner().isShare()) {
			return;
		}
		this.keptUntil.put(grant.key(), this.world.now() + lease.toNanos());
		Start start = this.starts.get(grant.key());
		if (start != null && start.grant().order() == grant.order()) {
			check(start.isKept() || lease.compareTo(start.lease()) <= 0, grant.key(),
					() -> start.user() + " has no minHold, but its renewal lasts " + lease);
			checkKept(start);
		}
	}

	/** Checks a release as it is sent. */
	void checkRelease(LockKey key, OwnerId owner, Duration keepFor) {
		Start start = this.startsOfGrants.get(owner);
		long rest = (start != null && start.isKept())
				? start.minHold().toNanos() - (this.world.now() - start.startNanos()) : 0;
		long excess = keepFor.toNanos() - Math.max(0, rest);
		check(keepFor.isZero() || (start != null && start.isKept() && excess < LONGEST_EXCESS.toNanos()), key,
				() -> "a release of " + key + " keeps it " + millis(excess) + " longer than is needed");
	}

	/** Records a release that the store has confirmed. */
	void recordRelease(LockKey key, OwnerId owner, Duration keepFor) {
		if (owner.isShare()) {
			return;
		}
		this.keptUntil.put(key, this.world.now() + keepFor.toNanos());
		Start start = start(key, owner);
		if (start != null) {
			checkKept(start);
		}
	}

	private @Nullable Start start(LockKey key, OwnerId owner) {
		Start start = this.starts.get(key);
		return (start != null && start.grant().owner().equals(owner)) ? start : null;
	}

	/** Records that the work of a user begins, which holds its locks. */
	void recordStart(SimulatedUser user, EngineLease lease) {
		if (user.request().mode() != LockMode.EXCLUSIVE) {
			// A share has no shortest hold, and ends none.
			return;
		}
		Duration minHold = user.request().minHold();
		Duration least = (minHold != null) ? minHold : Duration.ZERO;
		long from = user.keys()
			.stream()
			.mapToLong((key) -> granted(lease.fencingToken(key)).atNanos())
			.max()
			.orElseThrow();
		for (LockKey key : user.keys()) {
			FencingToken token = lease.fencingToken(key);
			Granted grant = granted(token);
			boolean isFirst = token.value() == FencingToken.of(token.order(), 0).value();
			Start last = this.starts.get(key);
			check(isFirst || (least.isZero() && (last == null || !last.isKept() || last.grant() != grant.grant())), key,
					() -> user + " was handed a lock although it has a minHold, or " + last);
			Start start = new Start(user.toString(), grant.grant(), this.world.now(), from + least.toNanos(), least,
					user.lease());
			check(start.isKept() || this.repeated.contains(token.order())
					|| grant.grant().validity().compareTo(start.lease()) <= 0, key,
					() -> user + " has no minHold, but its lock lasts " + grant.grant().validity());
			this.starts.put(key, start);
			this.startsOfGrants.put(grant.grant().owner(), start);
			checkKept(start);
		}
	}

	private Granted granted(FencingToken token) {
		return this.granted.get(token.order());
	}

	/** Whoever has begun is alone for its shortest hold, also if its process dies now. */
	private void checkKept(Start start) {
		LockKey key = start.grant().key();
		long missing = start.untilNanos() - this.keptUntil.get(key);
		check(!start.isKept() || this.world.now() >= start.untilNanos()
				|| (missing <= 0 && this.latestOrders.get(key) == start.grant().order()), key,
				() -> "the store keeps " + key + " of " + start.user() + " for a time that is " + millis(missing)
						+ " too short for its minHold");
	}

	private void check(boolean holds, LockKey key, Supplier<String> details) {
		if (!holds && !this.deleted.contains(key)) {
			this.world.check(false, "minHold", details.get());
		}
	}

	private static String millis(long nanos) {
		return nanos / 1e6 + " ms";
	}

	private record Granted(LockGrant grant, long atNanos) {
	}

	/**
	 * The beginning of work under a key.
	 *
	 * @param startNanos when the user was told
	 * @param untilNanos the end of the shortest hold, which the last grant begins
	 */
	private record Start(String user, LockGrant grant, long startNanos, long untilNanos, Duration minHold,
			Duration lease) {

		boolean isKept() {
			return !this.minHold.isZero();
		}

	}

}
