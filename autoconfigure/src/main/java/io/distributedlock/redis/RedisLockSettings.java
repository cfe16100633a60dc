package io.distributedlock.redis;

import java.time.Duration;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/**
 * What a {@link RedisLockProvider} has to be told.
 *
 * @param keyPrefix stands before every key, without braces, so that applications can
 * share a server
 * @param minReplicas how many replicas have to have a grant or a renewal before it
 * counts; 0 asks none
 * @param replicaTimeout how long to wait for them
 * @since 0.1.0
 */
public record RedisLockSettings(String keyPrefix, int minReplicas, Duration replicaTimeout) {

	/** How long to wait for replicas unless said otherwise. */
	public static final Duration DEFAULT_REPLICA_TIMEOUT = Duration.ofMillis(500);

	public RedisLockSettings {
		if (keyPrefix.isBlank()) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY, "The key prefix is blank",
					"Set distributed-lock.key-prefix or spring.application.name, so that applications sharing "
							+ "a server do not share locks by accident");
		}
		if (keyPrefix.indexOf('{') >= 0 || keyPrefix.indexOf('}') >= 0) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					"The key prefix '" + keyPrefix + "' has braces, which would split the keys of a lock in a cluster",
					"Set distributed-lock.key-prefix to letters, digits, '-' and '.'");
		}
		if (minReplicas < 0 || minReplicas > 100) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					"The property distributed-lock.redis.min-replicas is " + minReplicas + ", but must be 0 to 100",
					"Leave it unset to rely on the primary alone");
		}
		if (replicaTimeout.compareTo(Duration.ofMillis(1)) < 0 || replicaTimeout.compareTo(Duration.ofHours(1)) > 0) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					"The property distributed-lock.redis.replica-timeout is " + replicaTimeout
							+ ", but must be 1 ms to 1 hour",
					"Choose less than distributed-lock.call-timeout, which ends the whole call");
		}
	}

	/**
	 * The defaults: the primary alone counts.
	 * @param keyPrefix stands before every key
	 * @return the settings
	 */
	public static RedisLockSettings defaults(String keyPrefix) {
		return new RedisLockSettings(keyPrefix, 0, DEFAULT_REPLICA_TIMEOUT);
	}

	ReplicaRequirement replicas() {
		return new ReplicaRequirement(this.minReplicas, this.replicaTimeout);
	}

}
