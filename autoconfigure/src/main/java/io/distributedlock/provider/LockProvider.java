package io.distributedlock.provider;

import java.time.Duration;
import java.util.Map;

import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;

/**
 * The contract of a store: how one grant of a key is granted, renewed and given back. A
 * provider knows its store and nothing of waiting threads, queues, schedules, re-entry or
 * metrics; those belong to the engine.
 * <p>
 * Every command is one round trip, ends within the time-out it is given, and is
 * idempotent by owner: a repeated command neither grants a second time nor frees or
 * prolongs another's grant. The store compares the owner and judges expiry by its own
 * clock. Implementations are safe for use by many threads at once.
 *
 * @since 0.1.0
 */
public interface LockProvider {

	/**
	 * The provider's name, used in messages, thread names and metrics.
	 * @return a short lower-case name such as {@code jdbc}
	 */
	String name();

	/**
	 * Opens this process's place in the contest for a key. Does not talk to the store.
	 * @param key the key
	 * @param changed to be run when the store tells that the key may have become free; it
	 * only signals, may be run by any thread at any time, and a missed run costs no more
	 * than the pause that the last busy answer named
	 * @return the contender; used by one thread at a time
	 */
	LockContender enter(LockKey key, Runnable changed);

	/**
	 * Whether a key is granted to one owner at a time. Where it is not, the callers of
	 * one process do not wait for each other either.
	 * @return {@code true} for every provider that keeps locks
	 */
	default boolean isExclusive() {
		return true;
	}

	/**
	 * Prolongs grants, in one round trip where the store allows it. A grant whose lock
	 * has expired in the store is never revived.
	 * @param leases the grants, each with the time it is to last from now on
	 * @param timeout how long the call may take
	 * @return an outcome for each grant; one that is missing counts as
	 * {@link RenewalOutcome#UNKNOWN}
	 * @throws LockProviderException if the whole batch failed; what it did is then
	 * unclear
	 */
	Map<LockGrant, RenewalOutcome> renew(Map<LockGrant, Duration> leases, Duration timeout);

	/**
	 * Gives a grant back, if the given owner still has it.
	 * @param key the key
	 * @param owner the owner id of the grant
	 * @param timeout how long the call may take
	 * @return what the store said; never an exception for a store that fails
	 */
	ReleaseOutcome release(LockKey key, OwnerId owner, Duration timeout);

	/**
	 * Asks the store whether it can answer and holds what this provider needs.
	 * @param timeout how long the call may take
	 * @throws LockException if the store cannot be used, saying why
	 */
	void check(Duration timeout);

}
