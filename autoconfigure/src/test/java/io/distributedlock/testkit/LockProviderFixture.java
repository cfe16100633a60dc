package io.distributedlock.testkit;

import java.time.Duration;
import java.util.Optional;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockProvider;

/**
 * What {@link LockProviderContract} needs to know of a provider: one store of its own,
 * and ways to look into it that the provider itself does not offer.
 */
public interface LockProviderFixture extends AutoCloseable {

	/**
	 * A provider over this fixture's store that plays a process of its own.
	 * @return the provider, ended by {@link #close()}
	 */
	LockProvider newProcess();

	/**
	 * Ends the lease of a key in the store at once, without telling anybody.
	 * @param key a key that is held
	 */
	void expire(LockKey key);

	/**
	 * Counts what stands in the store for holders, waiters and reservations.
	 * @return the number of entries that a store without holders and waiters has not
	 */
	long heldEntries();

	/**
	 * The longest pause between two looks of a waiting process at a busy lock.
	 * @return the pause
	 */
	Duration pollBound();

	/**
	 * Whether the store keeps the order of a grant, so that a repeated attempt by its
	 * owner answers with the same one; else it answers with a higher one.
	 * @return whether it does
	 */
	default boolean keepsOrders() {
		return true;
	}

	/**
	 * Whether the store can tell others how long a grant lasts unless it is renewed.
	 * @return whether it can
	 */
	default boolean reportsRemaining() {
		return true;
	}

	/**
	 * What this fixture can do to its store. Only who can do something here extends
	 * {@link LockProviderFaultContract} too.
	 * @return the faults, ended by {@link #close()}, or nothing where there is no server
	 * and no way to it
	 */
	default Optional<StoreFaults> faults() {
		return Optional.empty();
	}

	@Override
	void close();

}
