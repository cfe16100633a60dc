package io.distributedlock.benchmarks.contender;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.time.Duration;
import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;

import io.distributedlock.benchmarks.Endpoint;

/**
 * The least that a lock in a database needs: a row that is inserted, and deleted if the
 * owner is still ours. Each statement commits by itself.
 */
final class RawDatabase implements Contender {

	private final HikariDataSource connections;

	RawDatabase(Endpoint server) {
		this.connections = ConnectionPools.open(server);
	}

	@Override
	public @Nullable HeldLock acquire(String key, Duration wait) throws SQLException {
		String owner = UUID.randomUUID().toString();
		try {
			update("INSERT INTO raw_lock (lock_key, owner) VALUES (?, ?)", key, owner);
		}
		catch (SQLException ex) {
			if (ex instanceof SQLIntegrityConstraintViolationException || "23505".equals(ex.getSQLState())) {
				return null;
			}
			throw ex;
		}
		return () -> update("DELETE FROM raw_lock WHERE lock_key = ? AND owner = ?", key, owner);
	}

	private void update(String sql, String key, String owner) throws SQLException {
		try (Connection connection = this.connections.getConnection();
				PreparedStatement statement = connection.prepareStatement(sql)) {
			statement.setString(1, key);
			statement.setString(2, owner);
			statement.executeUpdate();
		}
	}

	@Override
	public void close() {
		this.connections.close();
	}

}
