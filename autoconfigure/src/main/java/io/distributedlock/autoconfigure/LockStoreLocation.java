package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.LockProvider;

/**
 * Location of the locks inside the store of one provider, for people to read, and what
 * the check at start needs to know of it. Contains no secrets.
 *
 * @param provider the name of the provider
 * @param keyPrefix the prefix of every key in the store
 * @param location the table, server or node, in the terms of the store
 * @param startTimeout the longest wait for the first answer at start
 * @param timeoutAdvice what to do if there is none, or {@code null} for no special advice
 */
public record LockStoreLocation(String provider, String keyPrefix, String location, Duration startTimeout,
		@Nullable String timeoutAdvice) {

	/**
	 * The first connection of a cold client takes longer than any call after it. This is
	 * what Lettuce and the driver of PostgreSQL give it if nothing else is set.
	 */
	public static final Duration START_TIMEOUT = Duration.ofSeconds(10);

	public LockStoreLocation(String provider, String keyPrefix, String location) {
		this(provider, keyPrefix, location, START_TIMEOUT, null);
	}

	/** Returns the first location of a provider, or {@code null} if it has none. */
	public static @Nullable LockStoreLocation find(LockProvider provider, List<LockStoreLocation> locations) {
		return locations.stream().filter((own) -> own.provider().equals(provider.name())).findFirst().orElse(null);
	}

}
