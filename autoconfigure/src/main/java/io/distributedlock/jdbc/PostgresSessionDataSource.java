package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Source of new connections to PostgreSQL whose sessions are prepared for locks. */
final class PostgresSessionDataSource extends DelegatingDataSource {

	private final @Nullable String initSql;

	private final Duration callTimeout;

	PostgresSessionDataSource(DataSource target, @Nullable String initSql, Duration callTimeout) {
		super(target);
		this.initSql = initSql;
		this.callTimeout = callTimeout;
	}

	@Override
	public Connection getConnection() throws SQLException {
		return prepared(super.getConnection());
	}

	@Override
	public Connection getConnection(String username, String password) throws SQLException {
		return prepared(super.getConnection(username, password));
	}

	private Connection prepared(Connection connection) throws SQLException {
		try {
			PostgresSession.prepare(connection, this.initSql, this.callTimeout);
			return connection;
		}
		catch (SQLException | RuntimeException | LinkageError ex) {
			connection.close();
			throw ex;
		}
	}

}
