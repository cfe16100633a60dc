package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.distributedlock.jdbc.dialect.Dialect;

/**
 * Database with the lock table, and a user for processes that has only the documented
 * rights on it.
 */
final class LockDatabase {

	/** Enough for a test and the threads that look on. */
	private static final int CONNECTIONS = 4;

	private final JdbcTemplate jdbc;

	private final String url;

	private final String user;

	private final Dialect dialect;

	private LockDatabase(DataSource owner) {
		this.jdbc = new JdbcTemplate(owner);
		this.url = TestDatabases.url(owner);
		this.user = TestDatabases.grantLocks(owner, this.url);
		try (Connection connection = owner.getConnection()) {
			this.dialect = TestDatabases.dialect(connection);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** A database of one test, to which each statement of its owner is a new session. */
	static LockDatabase of(DataSource owner) {
		return new LockDatabase(owner);
	}

	/**
	 * A database of all tests of a JVM: they share the user and the owner's sessions,
	 * because a server that starts a process for each session takes its time.
	 */
	static LockDatabase shared(DataSource owner) {
		HikariDataSource pool = new HikariDataSource();
		pool.setPoolName("owner-of-locks");
		pool.setDataSource(owner);
		pool.setMinimumIdle(0);
		pool.setMaximumPoolSize(CONNECTIONS);
		return new LockDatabase(pool);
	}

	JdbcTemplate jdbc() {
		return this.jdbc;
	}

	String url() {
		return this.url;
	}

	String user() {
		return this.user;
	}

	Dialect dialect() {
		return this.dialect;
	}

}
