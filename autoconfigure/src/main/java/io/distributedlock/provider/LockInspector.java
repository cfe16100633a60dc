package io.distributedlock.provider;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

import io.distributedlock.LockException;
import io.distributedlock.LockKey;

/**
 * What operators can see and change in a store, also of other processes' locks. A
 * {@link LockProvider} may implement it. Each call waits for the store on the calling
 * thread, for its time-out at most, and reads no more than it returns. Safe for use by
 * many threads.
 *
 * @since 0.1.0
 */
public interface LockInspector {

	/**
	 * Finds the present grant of a key, without changing anything.
	 * @param key the key
	 * @param timeout how long the call may take
	 * @return the lock, or any of its shares; empty if it is free, expired or only
	 * reserved
	 * @throws LockException if the store could not answer
	 */
	Optional<StoredLock> find(LockKey key, Duration timeout);

	/**
	 * Finds the present grants of a key, of which there are several if they are shares.
	 * @param key the key
	 * @param timeout how long the call may take
	 * @return the grants; empty if the key is free, expired or only reserved
	 * @throws LockException if the store could not answer
	 */
	default List<StoredLock> findAll(LockKey key, Duration timeout) {
		return find(key, timeout).stream().toList();
	}

	/**
	 * Lists the locks of all processes that share the key prefix, in the order of their
	 * keys, each share for itself, where the store can do so cheaply.
	 * @param limit how many locks are listed at most
	 * @param timeout how long the call may take
	 * @return the locks; empty, without a call, for a store that cannot list them
	 * @throws LockException if the store could not answer
	 */
	default Optional<List<StoredLock>> list(int limit, Duration timeout) {
		return Optional.empty();
	}

	/**
	 * Takes a lock away from its holder, if the grant that was found is still the present
	 * one: the store compares it. The holder learns of it with its next renewal at the
	 * latest.
	 * @param key the key
	 * @param lock the lock as it was found
	 * @param timeout how long the call may take
	 * @return the answer of the store; {@link ReleaseOutcome#UNKNOWN} if the lock may be
	 * released later
	 * @throws LockException if the request could not be made
	 */
	ReleaseOutcome forceRelease(LockKey key, StoredLock lock, Duration timeout);

}
