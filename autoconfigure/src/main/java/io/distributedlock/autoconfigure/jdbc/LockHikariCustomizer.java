package io.distributedlock.autoconfigure.jdbc;

import com.zaxxer.hikari.HikariConfig;

/**
 * Customizer of each connection pool that is built for the locks, called after all other
 * settings but the properties of the driver, which it can set itself. Not called where
 * locks use a {@code DataSource} of the application. Several customizers are called in
 * their order.
 * <p>
 * With {@code distributed-lock.jdbc.strategy=row-lock} it is called twice: for the pool
 * named {@code distributed-lock}, and for the one of the connections that hold locks,
 * named {@code distributed-lock-rows}. {@link HikariConfig#getPoolName()} tells them
 * apart. The latter must not become smaller than
 * {@code distributed-lock.jdbc.pool.row-lock-size}: the start fails otherwise.
 * <p>
 * Autocommit, read-only, isolation and {@code isolateInternalQueries} have to stay as
 * they are: the start fails otherwise.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface LockHikariCustomizer {

	/**
	 * Customizes a pool to be built.
	 * @param config the settings of the pool
	 */
	void customize(HikariConfig config);

}
