package com.example.maplock;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ProcessLabel;

/**
 * Store in a map that several {@link MapLockProvider}s share. Each command is one step
 * under the monitor of the store.
 */
public final class MapStore {

	/** Longest pause between two attempts of a process that waits. */
	public static final Duration POLL_BOUND = Duration.ofMillis(250);

	private final Map<LockKey, MapEntry> entries = new HashMap<>();

	private long lastOrder;

	AttemptResult attempt(LockKey key, OwnerId owner, Duration lease, MapContender contender, boolean willWait) {
		return step(key, (entry) -> {
			if (!entry.isHeldBy(owner)) {
				if (!entry.isFreeFor(contender)) {
					if (willWait) {
						entry.enqueue(contender);
					}
					return busy(entry);
				}
				entry.grant(owner, lease, contender, ++this.lastOrder);
			}
			return new AttemptResult.Granted(new LockGrant(key, owner, entry.order(), entry.remaining()));
		});
	}

	private static AttemptResult busy(MapEntry entry) {
		Duration remaining = entry.remaining();
		Duration retryAfter = (remaining.compareTo(POLL_BOUND) < 0) ? remaining : POLL_BOUND;
		return new AttemptResult.Busy(retryAfter,
				LockHolder.of(ProcessLabel.get())
					.withHeldFor(entry.heldFor())
					.withRemaining(remaining)
					.withReleased(entry.isKept()));
	}

	boolean renew(LockKey key, OwnerId owner, Duration lease) {
		return step(key, (entry) -> entry.renew(owner, lease));
	}

	boolean release(LockKey key, OwnerId owner, Duration keepFor) {
		Runnable signal = step(key, (entry) -> entry.isHeldBy(owner) ? entry.release(keepFor) : null);
		if (signal != null) {
			signal.run();
		}
		return signal != null;
	}

	void withdraw(LockKey key, MapContender contender) {
		step(key, (entry) -> entry.withdraw(contender)).run();
	}

	/**
	 * Ends the lease of a key at once.
	 * @param key the key
	 * @return whether the key was held
	 */
	public boolean expire(LockKey key) {
		return step(key, MapEntry::expire);
	}

	/**
	 * Counts the keys with a holder, a waiter or a reservation.
	 * @return the number of keys
	 */
	public synchronized long size() {
		this.entries.values().removeIf(MapEntry::isEmpty);
		return this.entries.size();
	}

	private synchronized <T> T step(LockKey key, Function<MapEntry, T> command) {
		MapEntry entry = this.entries.computeIfAbsent(key, (absent) -> new MapEntry());
		T result = command.apply(entry);
		if (entry.isEmpty()) {
			this.entries.remove(key);
		}
		return result;
	}

}
