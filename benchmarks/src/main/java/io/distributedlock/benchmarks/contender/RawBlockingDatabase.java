package io.distributedlock.benchmarks.contender;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;

import io.distributedlock.benchmarks.Endpoint;
import io.distributedlock.benchmarks.Store;

/**
 * The least that waiting in a database needs: the server's own advisory locks, which last
 * as long as their connection and are lost with it.
 */
final class RawBlockingDatabase implements Contender {

	private static final String CANCELLED = "57014";

	private final HikariDataSource connections;

	private final boolean postgres;

	RawBlockingDatabase(Endpoint server) {
		this.connections = ConnectionPools.open(server);
		this.postgres = server.store() == Store.POSTGRESQL;
	}

	@Override
	public @Nullable HeldLock acquire(String key, Duration wait) throws SQLException {
		Connection connection = this.connections.getConnection();
		boolean acquired = false;
		try {
			acquired = this.postgres ? acquireInPostgres(connection, key, wait)
					: succeeds(connection, "SELECT GET_LOCK(?, " + wait.toSeconds() + ")", key);
		}
		finally {
			if (!acquired) {
				connection.close();
			}
		}
		String release = this.postgres ? "SELECT pg_advisory_unlock(hashtextextended(?, 0))" : "SELECT RELEASE_LOCK(?)";
		return acquired ? () -> {
			try (connection) {
				succeeds(connection, release, key);
			}
		} : null;
	}

	private static boolean acquireInPostgres(Connection connection, String key, Duration wait) throws SQLException {
		try (PreparedStatement statement = connection
			.prepareStatement("SELECT pg_advisory_lock(hashtextextended(?, 0))")) {
			statement.setString(1, key);
			statement.setQueryTimeout(Math.toIntExact(wait.toSeconds()));
			statement.execute();
			return true;
		}
		catch (SQLException ex) {
			if (CANCELLED.equals(ex.getSQLState())) {
				return false;
			}
			throw ex;
		}
	}

	private static boolean succeeds(Connection connection, String sql, String key) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			statement.setString(1, key);
			try (ResultSet result = statement.executeQuery()) {
				return result.next() && result.getBoolean(1);
			}
		}
	}

	@Override
	public void close() {
		this.connections.close();
	}

}
