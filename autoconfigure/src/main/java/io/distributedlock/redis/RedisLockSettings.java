package io.distributedlock.redis;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/**
 * What a {@link RedisLockProvider} has to be told.
 *
 * @param keyPrefix stands before every key, without braces, so that applications can
 * share a server
 * @since 0.1.0
 */
public record RedisLockSettings(String keyPrefix) {

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
	}

}
