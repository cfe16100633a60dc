package io.distributedlock.redis.quorum;

import java.time.Duration;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.redis.RedisLockSettings;

/**
 * Settings of a {@link RedisQuorumLockProvider}.
 *
 * @param keyPrefix the beginning of every key, without braces, so that applications can
 * share the servers
 * @param maxLease the longest lease, 1 s to 1 day, the same in all processes: a server
 * that has restarted grants nothing for so long
 * @since 0.1.0
 */
public record RedisQuorumSettings(String keyPrefix, Duration maxLease) {

	/** The property of the longest lease, for messages. */
	static final String MAX_LEASE = "distributed-lock.redis.quorum.max-lease";

	/** The default of the longest lease. */
	public static final Duration DEFAULT_MAX_LEASE = Duration.ofMinutes(5);

	/**
	 * Creates settings.
	 * @throws LockConfigurationException if a value is out of its range
	 */
	public RedisQuorumSettings {
		RedisLockSettings.defaults(keyPrefix);
		if (maxLease.compareTo(Duration.ofSeconds(1)) < 0 || maxLease.compareTo(Duration.ofDays(1)) > 0) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					"The property " + MAX_LEASE + " is " + maxLease + ", but must be 1 second to 1 day",
					"Choose the longest lease that a lock has; a server grants nothing for so long after its start");
		}
	}

}
