package io.distributedlock.benchmarks.contender;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import io.distributedlock.benchmarks.Endpoint;

/**
 * Connections to a database: one for each of up to twenty threads.
 */
final class ConnectionPools {

	static final int SIZE = 20;

	private ConnectionPools() {
	}

	/** Opens a pool, to be closed by the caller. */
	static HikariDataSource open(Endpoint server) {
		HikariConfig configuration = new HikariConfig();
		configuration.setJdbcUrl(server.address());
		configuration.setUsername(server.user());
		configuration.setPassword("");
		configuration.setMaximumPoolSize(SIZE);
		configuration.setMinimumIdle(1);
		return new HikariDataSource(configuration);
	}

}
