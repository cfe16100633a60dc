package io.distributedlock.testkit;

import java.time.Duration;
import java.util.Optional;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockProvider;

/**
 * Access of a contract to one store, with operations that a provider does not offer. The
 * author of a provider implements it; each test has an instance of its own.
 * <p>
 * A fixture begins with a store in which no key is locked. It may share a server with
 * other fixtures as long as their keys do not meet, for example by a prefix or a table of
 * its own. Several threads call {@link #newProcess()} and {@link #heldEntries()}.
 */
public interface LockProviderFixture extends AutoCloseable {

	/**
	 * Creates a provider that acts as a process of its own over this fixture's store: it
	 * has its own connections and its own identity in the wait queue.
	 * @return the provider, which {@link #close()} ends
	 */
	LockProvider newProcess();

	/**
	 * Ends the lease of a key in the store at once and notifies no process.
	 * @param key a key that is held; another one fails the test
	 */
	void expire(LockKey key);

	/**
	 * Counts the store's entries of holders, waiters and reservations. Entries that
	 * remain after a release, such as the last order of a key, do not count.
	 * @return the number of entries; zero when no process holds or waits
	 */
	long heldEntries();

	/**
	 * Returns the longest pause between two attempts of a process that waits.
	 * @return the pause, at most one second
	 */
	Duration pollBound();

	/**
	 * Returns the shortest lease that a process renews in time while store and machine
	 * are quick. The contract repeats what such a lease was too short for with longer
	 * ones, so that a value that is too small costs time but fails no test.
	 * @return 300 ms unless overridden, which suits a store on the same machine
	 */
	default Duration shortestLease() {
		return Duration.ofMillis(300);
	}

	/**
	 * Returns whether a repeated attempt of an owner returns the order of its first
	 * grant. A store that does not keep it returns a higher one.
	 * @return {@code true} unless overridden
	 */
	default boolean keepsOrders() {
		return true;
	}

	/**
	 * Returns whether a busy answer contains the remaining time of the holder's lease.
	 * @return {@code true} unless overridden
	 */
	default boolean reportsRemaining() {
		return true;
	}

	/**
	 * Returns whether the store keeps a key after its release, as
	 * {@link LockProvider#supportsMinHold()} says.
	 * @return {@code true} unless overridden
	 */
	default boolean supportsMinHold() {
		return true;
	}

	/**
	 * Returns whether processes that wait for a key are granted it in the order of their
	 * arrival. Where they are not, a release reserves the key for no process, and the
	 * contract asks neither.
	 * @return {@code true} unless overridden
	 */
	default boolean hasWaitQueue() {
		return true;
	}

	/**
	 * Returns whether the store grants shares if its provider does.
	 * @return {@code true} unless overridden
	 */
	default boolean hasShares() {
		return true;
	}

	/**
	 * Returns whether attempts at the same moment may refuse each other, so that none of
	 * them is granted, as those that split a quorum do.
	 * @return {@code false} unless overridden
	 */
	default boolean mayRefuseAll() {
		return false;
	}

	/**
	 * Returns the faults that {@link LockProviderFaultContract} injects.
	 * @return the faults, which {@link #close()} ends; empty for a store without a server
	 */
	default Optional<StoreFaults> faults() {
		return Optional.empty();
	}

	@Override
	void close();

}
