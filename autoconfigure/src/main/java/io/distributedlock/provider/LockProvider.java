package io.distributedlock.provider;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;

import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockMode;

/**
 * The contract of a store: how a key is granted, renewed and released. A provider deals
 * with its store only. Waiting threads, queues, schedules, re-entry and metrics belong to
 * the engine.
 * <p>
 * Every command is one round trip and is idempotent by owner: a repeated command neither
 * grants a second time nor frees or prolongs another's grant. The store compares the
 * owner and judges expiry by its own clock. A call that {@linkplain #isBlocking() blocks}
 * ends within the time-out it is given; any other is abandoned by the engine then. No
 * method throws because of the store: a failure is the end of the call. Implementations
 * are safe for use by many threads at once.
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
	 * Creates the contender of this process for a key. Sends nothing to the store.
	 * @param key the key
	 * @param onNotified the action to run when the store notifies that the key may be
	 * free. Any thread may run it at any time, without a lock that an attempt needs:
	 * unless the provider blocks, it may call the contender's attempt before it returns.
	 * It does not block, and a missed run costs no more than the pause that the last busy
	 * answer named
	 * @return the contender; the engine begins no attempt before the last one has ended
	 * or is being abandoned
	 */
	LockContender newContender(LockKey key, Runnable onNotified);

	/**
	 * Whether the store grants a key in a mode. Requests for another one are refused.
	 * @param mode the mode
	 * @return {@code true} for {@link LockMode#EXCLUSIVE} only, unless overridden
	 */
	default boolean supports(LockMode mode) {
		return mode == LockMode.EXCLUSIVE;
	}

	/**
	 * Creates the contender of this process for shares of a key: grants that several
	 * owners have at a time. Its attempts are granted while nobody holds the key
	 * exclusively, fewer than {@code limit} owners have a share, whatever limit those had
	 * been granted with, and no exclusive contender is first in the wait queue. Each
	 * share has an owner id of its own, which {@linkplain OwnerId#isShare() says that it
	 * is a share}, a lease and an order of its own; it is renewed and released by its
	 * owner id as an exclusive grant is, and expires alone.
	 * @param key the key
	 * @param limit the most shares that there may be with this one, at least 1;
	 * {@link Integer#MAX_VALUE} for no limit
	 * @param onNotified the action to run when the store notifies that a share may be
	 * free, as for {@link #newContender}
	 * @return the contender, beside those for other limits and the exclusive one of the
	 * same key
	 */
	default LockContender newShareContender(LockKey key, int limit, Runnable onNotified) {
		throw new UnsupportedOperationException("Store '" + name() + "' has no shares");
	}

	/**
	 * Whether a key is granted to one owner at a time. Where it is not, the callers of
	 * one process do not wait for each other either, and every attempt is granted.
	 * @return {@code true} for every provider that keeps locks
	 */
	default boolean isExclusive() {
		return true;
	}

	/**
	 * Whether calls work on the calling thread.
	 * @return {@code true} for a blocking driver; {@code false} if calls return at once,
	 * so that no thread of the engine is needed for them
	 */
	boolean isBlocking();

	/**
	 * Returns how many attempts a provider that {@linkplain #isBlocking() blocks} can
	 * make at a time, on one node of the store. So many threads attempt for requests that
	 * have no thread of their own.
	 * @return the number, at least 1; 8 unless the provider knows the size of its pool
	 */
	default int concurrentCalls() {
		return 8;
	}

	/**
	 * Returns the node of the store that keeps a key, as far as the provider knows it
	 * without asking. Calls to one node do not wait for calls to another, and grants of
	 * one node are renewed together.
	 * @param key the key
	 * @return the node, one of few; compared by {@code equals}. One for all keys if the
	 * store is a single node to its clients
	 */
	default Object node(LockKey key) {
		return name();
	}

	/**
	 * Returns the largest number of grants that one call of {@link #renew(Map, Duration)}
	 * receives.
	 * @return the number, 500 unless a provider divides its calls by itself
	 */
	default int renewalBatchSize() {
		return 500;
	}

	/**
	 * Prolongs grants of one {@linkplain #node node}, in one round trip where the store
	 * allows it. A grant whose lock has expired in the store is never revived.
	 * @param leases the grants, each with the time it is to last from now on
	 * @param timeout how long the call may take
	 * @return the call, with an outcome for each grant; one that is missing counts as
	 * {@link RenewalOutcome#UNKNOWN}. It fails if the whole batch failed; what it did is
	 * then unclear
	 */
	StoreCall<Map<LockGrant, RenewalOutcome>> renew(Map<LockGrant, Duration> leases, Duration timeout);

	/**
	 * Whether the store can keep a key after its release. Requests with a shortest hold
	 * ({@code minHold}) are refused where it cannot.
	 * @return {@code false} unless overridden
	 */
	default boolean supportsMinHold() {
		return false;
	}

	/**
	 * Returns the longest time for which the store keeps a key without a renewal, be it a
	 * lease or a shortest hold. Requests for a longer one are refused.
	 * @return the time and its property, or empty if there is no such limit
	 */
	default Optional<LongestLease> longestLease() {
		return Optional.empty();
	}

	/**
	 * Releases a grant, if the given owner still has it.
	 * <p>
	 * A store that {@linkplain #supportsMinHold() supports it} keeps the key for a time
	 * after that: nobody owns it then, it is granted and reserved to no process, and no
	 * command of the earlier owner finds its grant. It is free when the time has passed
	 * by the store's clock, without another command.
	 * @param key the key
	 * @param owner the owner id of the grant
	 * @param keepFor for how long the store keeps the key from now on; zero, and for a
	 * store that does not support it always zero, if it is free at once
	 * @param timeout how long the call may take
	 * @return the call, with the answer of the store; {@link ReleaseOutcome#UNKNOWN}, and
	 * no failure, for a store that fails
	 */
	StoreCall<ReleaseOutcome> release(LockKey key, OwnerId owner, Duration keepFor, Duration timeout);

	/**
	 * Releases a grant, if the given owner still has it; the key is free at once.
	 * @param key the key
	 * @param owner the owner id of the grant
	 * @param timeout how long the call may take
	 * @return the call, as {@link #release(LockKey, OwnerId, Duration, Duration)} returns
	 * it
	 */
	default StoreCall<ReleaseOutcome> release(LockKey key, OwnerId owner, Duration timeout) {
		return release(key, owner, Duration.ZERO, timeout);
	}

	/**
	 * Releases a grant whose answer was seen; the key is free at once.
	 * @param grant the grant, as the attempt returned it
	 * @param timeout how long the call may take
	 * @return the call, as {@link #release(LockKey, OwnerId, Duration, Duration)} returns
	 * it
	 */
	default StoreCall<ReleaseOutcome> release(LockGrant grant, Duration timeout) {
		return release(grant.key(), grant.owner(), timeout);
	}

	/**
	 * Releases a grant as {@link #release(LockGrant, Duration)} does, on a thread that
	 * waits for the answer. A store whose client answers a blocked thread sooner may
	 * block it, within the time-out.
	 * @param grant the grant, as the attempt returned it
	 * @param timeout how long the call may take
	 * @return the call
	 */
	default StoreCall<ReleaseOutcome> releaseBlocking(LockGrant grant, Duration timeout) {
		return release(grant, timeout);
	}

	/**
	 * Adds a handler of requests that operators make in the store itself, to take a lock
	 * away from its holder. A store without such requests ignores it.
	 * @param handler takes the grant of a key and an owner away from its holder, and
	 * releases it; ignores a grant that it does not know. It does not block
	 */
	default void addForcedReleaseHandler(BiConsumer<LockKey, OwnerId> handler) {
		// Not every store can tell a process of a request.
	}

	/**
	 * Removes a handler that was added.
	 * @param handler the handler
	 */
	default void removeForcedReleaseHandler(BiConsumer<LockKey, OwnerId> handler) {
		// None was added.
	}

	/**
	 * Checks that the store answers and has what this provider needs.
	 * @param timeout how long the call may take
	 * @throws LockException if the store cannot be used, saying why
	 */
	void check(Duration timeout);

	/**
	 * Probes whether the store answers, and could grant a lock now. Changes nothing, and
	 * does not depend on whether any lock is busy. For health checks, after the
	 * {@linkplain #check check} at start.
	 * @param timeout how long the call may take, which waits on the calling thread
	 * @throws LockException if the store cannot be used, saying why
	 */
	default void probe(Duration timeout) {
		check(timeout);
	}

	/**
	 * Returns the states of the servers that keep each lock together, as this process
	 * knows them without asking. For health checks, after a {@linkplain #probe probe}.
	 * @return the states for people, by the addresses of the servers; empty for a store
	 * whose client does not tell
	 */
	default Map<String, String> nodeStates() {
		return Map.of();
	}

}
