package io.distributedlock.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;

import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.core.JdbcTemplate;

/** Faults of the MySQL and MariaDB servers of the tests. */
final class MySqlFaults extends JdbcFaults {

	/** The code of the error that tells that no session has an id. */
	private static final int UNKNOWN_SESSION = 1094;

	private final boolean kills;

	MySqlFaults(JdbcFixture fixture) {
		super(fixture);
		this.kills = fixture.url().startsWith("jdbc:mariadb:");
		createTriggers(fixture.jdbc());
	}

	@Override
	public ProcessHandle process() {
		Path file = Objects.requireNonNull(jdbc().queryForObject("SELECT @@datadir, @@pid_file",
				(row, number) -> Path.of(row.getString(1)).resolve(row.getString(2))));
		try {
			return ProcessHandle.of(Long.parseLong(Files.readString(file).strip())).orElseThrow();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Matches the KILL that MariaDB's driver sends over another connection. */
	@Override
	public Optional<Predicate<byte[]>> cancellation() {
		return this.kills ? Optional.of((packet) -> new String(packet, StandardCharsets.ISO_8859_1).contains("KILL "))
				: Optional.empty();
	}

	@Override
	Object session(JdbcTemplate jdbc) {
		return Objects.requireNonNull(jdbc.queryForObject("SELECT CONNECTION_ID()", Long.class));
	}

	@Override
	void refuseWrites(JdbcTemplate jdbc, String key) {
		jdbc.execute("INSERT INTO refused_keys VALUES (" + key + ")");
	}

	@Override
	void permitWrites(JdbcTemplate jdbc) {
		jdbc.execute("DELETE FROM refused_keys");
	}

	/**
	 * Triggers, because MySQL enforces checks only since 8.0.16. They are there from the
	 * beginning, because their creation would wait for the transactions of row locks.
	 */
	private static void createTriggers(JdbcTemplate jdbc) {
		jdbc.execute("CREATE TABLE refused_keys (k VARBINARY(2048) PRIMARY KEY)");
		for (String event : List.of("INSERT", "UPDATE")) {
			jdbc.execute("CREATE TRIGGER refused_" + event + " BEFORE " + event
					+ " ON distributed_lock FOR EACH ROW IF EXISTS (SELECT 1 FROM refused_keys WHERE k = NEW.lock_key)"
					+ " THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused_key'; END IF");
		}
	}

	@Override
	int kill(List<Object> spared) {
		int killed = 0;
		for (Long session : jdbc().queryForList("""
				SELECT id FROM information_schema.processlist
				WHERE db = DATABASE() AND id <> CONNECTION_ID()""", Long.class)) {
			if (!spared.contains(session) && kill(session)) {
				killed++;
			}
		}
		return killed;
	}

	/** Returns {@code false} if the session has ended by itself. */
	private boolean kill(long session) {
		try {
			jdbc().execute("KILL CONNECTION " + session);
			return true;
		}
		catch (UncategorizedSQLException ex) {
			SQLException cause = ex.getSQLException();
			if (cause == null || cause.getErrorCode() != UNKNOWN_SESSION) {
				throw ex;
			}
			return false;
		}
	}

}
