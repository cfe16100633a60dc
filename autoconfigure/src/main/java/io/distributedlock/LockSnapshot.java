package io.distributedlock;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The locks of one provider that a process holds at one moment, and the requests that
 * wait for one.
 *
 * @param provider the name of the provider that keeps the locks
 * @param held the locks
 * @param waiting the requests
 * @since 0.1.0
 */
public record LockSnapshot(String provider, List<Held> held, List<Waiting> waiting) {

	/**
	 * Creates a snapshot.
	 */
	public LockSnapshot {
		held = List.copyOf(held);
		waiting = List.copyOf(waiting);
	}

	/**
	 * A lock that is held.
	 *
	 * @param key the key
	 * @param requester the name of the thread that requested it, or that of an
	 * asynchronous request
	 * @param heldFor how long it has been held
	 * @param lease how long it lasts in the store unless it is renewed
	 * @param remaining the time until the local deadline; zero after it
	 * @param token the fencing token
	 * @param mode who may hold the key at the same time
	 */
	public record Held(LockKey key, String requester, Duration heldFor, Duration lease, Duration remaining,
			FencingToken token, LockMode mode) {
	}

	/**
	 * A request that waits.
	 *
	 * @param key the key
	 * @param requester the name of the thread that waits, or that of an asynchronous
	 * request
	 * @param waitedFor how long it has waited
	 * @param waitTime how long it waits at most, or {@code null} without a limit
	 * @param mode who may hold the key at the same time
	 */
	public record Waiting(LockKey key, String requester, Duration waitedFor, @Nullable Duration waitTime,
			LockMode mode) {
	}

}
