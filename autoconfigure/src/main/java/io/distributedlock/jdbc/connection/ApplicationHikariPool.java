package io.distributedlock.jdbc.connection;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.ProxyConnection;
import org.jspecify.annotations.Nullable;

/** Pool of the application by Hikari, from which connections can be evicted. */
final class ApplicationHikariPool extends ApplicationDataSource {

	private final HikariDataSource pool;

	private ApplicationHikariPool(DataSource dataSource, HikariDataSource pool, int size) {
		super(dataSource, Math.min(size, pool.getMaximumPoolSize()));
		this.pool = pool;
	}

	/** Returns {@code null} if the {@code DataSource} is no Hikari pool. */
	static @Nullable ApplicationHikariPool find(DataSource dataSource, int size) {
		HikariDataSource pool = HikariSupport.unwrap(dataSource);
		return (pool != null) ? new ApplicationHikariPool(dataSource, pool, size) : null;
	}

	@Override
	public DedicatedConnection openDedicated() throws SQLException {
		return HikariSupport.openDedicated(this.pool);
	}

	@Override
	void remove(Connection closed) {
		// Also behind proxies such as those of p6spy
		ProxyConnection pooled = ConnectionSource.find(closed, ProxyConnection.class);
		if (pooled != null) {
			this.pool.evictConnection(pooled);
		}
		else {
			super.remove(closed);
		}
	}

}
