package io.distributedlock.redis;

import java.time.Duration;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.redis.script.ReplicaRequirement;

/**
 * Settings of a {@link RedisLockProvider}.
 *
 * @param keyPrefix the beginning of every key, without braces, so that applications can
 * share a server
 * @param minReplicas the number of replicas that have to acknowledge a grant or a renewal
 * before it counts, 0 to 100; 0 waits for none
 * @param replicaTimeout the longest wait for them, 1 ms to 1 hour
 * @param behindTwemproxy whether the connections lead to Twemproxy, which has
 * {@code hash_tag: "{}"} and {@code auto_eject_hosts: false}
 * @since 0.1.0
 */
public record RedisLockSettings(String keyPrefix, int minReplicas, Duration replicaTimeout, boolean behindTwemproxy) {

	/** The default of the longest wait for replicas. */
	public static final Duration DEFAULT_REPLICA_TIMEOUT = Duration.ofMillis(500);

	/**
	 * Creates settings.
	 * @throws LockConfigurationException if a value is out of its range
	 */
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
					"Remove the property to wait for no replica");
		}
		if (replicaTimeout.compareTo(Duration.ofMillis(1)) < 0 || replicaTimeout.compareTo(Duration.ofHours(1)) > 0) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					"The property distributed-lock.redis.replica-timeout is " + replicaTimeout
							+ ", but must be 1 ms to 1 hour",
					"Choose less than distributed-lock.call-timeout, which ends the whole call");
		}
		if (behindTwemproxy && minReplicas > 0) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					"The property distributed-lock.redis.min-replicas is " + minReplicas
							+ ", but Twemproxy refuses WAIT (distributed-lock.redis.twemproxy is true)",
					"Remove min-replicas, or connect to the servers without Twemproxy");
		}
	}

	/**
	 * Creates settings for servers without Twemproxy before them.
	 * @param keyPrefix the beginning of every key
	 * @param minReplicas the number of replicas that have to acknowledge
	 * @param replicaTimeout the longest wait for them
	 * @throws LockConfigurationException if a value is out of its range
	 */
	public RedisLockSettings(String keyPrefix, int minReplicas, Duration replicaTimeout) {
		this(keyPrefix, minReplicas, replicaTimeout, false);
	}

	/**
	 * Creates settings that wait for no replica.
	 * @param keyPrefix the beginning of every key
	 * @return the settings
	 * @throws LockConfigurationException if the prefix is blank or has braces
	 */
	public static RedisLockSettings defaults(String keyPrefix) {
		return new RedisLockSettings(keyPrefix, 0, DEFAULT_REPLICA_TIMEOUT);
	}

	ReplicaRequirement replicaRequirement() {
		return new ReplicaRequirement(this.minReplicas, this.replicaTimeout);
	}

}
