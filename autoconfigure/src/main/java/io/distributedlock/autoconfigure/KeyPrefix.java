package io.distributedlock.autoconfigure;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/** Prefix of every key in a store that applications may share. */
public final class KeyPrefix {

	private static final Log logger = LogFactory.getLog(KeyPrefix.class);

	private static final String DEFAULT = "application";

	private KeyPrefix() {
	}

	/**
	 * Returns the configured prefix, or the application's name.
	 * @param store the place that applications may share, for the warning that this one
	 * has no name
	 */
	public static String of(DistributedLockProperties properties, Environment environment, String store) {
		if (!StringUtils.hasText(configured(properties, environment))) {
			logger.warn("Neither distributed-lock.key-prefix nor spring.application.name is set: lock keys begin with '"
					+ DEFAULT + "', and applications that share the " + store
					+ " share them. Set one of these properties");
		}
		return text(properties, environment);
	}

	/** Returns the same prefix, without a warning. */
	public static String text(DistributedLockProperties properties, Environment environment) {
		String prefix = configured(properties, environment);
		return StringUtils.hasText(prefix) ? prefix : DEFAULT;
	}

	private static @Nullable String configured(DistributedLockProperties properties, Environment environment) {
		String prefix = properties.keyPrefix();
		return StringUtils.hasText(prefix) ? prefix : environment.getProperty("spring.application.name");
	}

}
