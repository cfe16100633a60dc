package io.distributedlock.autoconfigure;

import com.zaxxer.hikari.HikariConfig;

/**
 * Customizer of the connection pool that is built for the locks, called after all other
 * settings but the properties of the driver, which it can set itself. Not called where
 * locks use a {@code DataSource} of the application. Several customizers are called in
 * their order.
 * <p>
 * Autocommit, read-only, isolation and {@code isolateInternalQueries} have to stay as
 * they are: the start fails otherwise.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface LockHikariCustomizer {

	/**
	 * Customizes the pool to be built.
	 * @param config the settings of the pool
	 */
	void customize(HikariConfig config);

}
