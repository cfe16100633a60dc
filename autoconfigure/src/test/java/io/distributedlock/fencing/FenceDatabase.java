package io.distributedlock.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.awaitility.Awaitility;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ScriptUtils;

import io.distributedlock.jdbc.TestDatabases;

/** The databases that have fences, each with its table. */
enum FenceDatabase {

	H2(TestDatabases::h2), POSTGRESQL(TestDatabases::postgres), MARIADB(TestDatabases::mariaDb),
	MYSQL(TestDatabases::mySql), MARIADB_WITH_MYSQL_DRIVER(TestDatabases::mariaDbWithMySqlDriver),
	MYSQL_WITH_MARIADB_DRIVER(TestDatabases::mySqlWithMariaDbDriver);

	private final Supplier<DataSource> databases;

	FenceDatabase(Supplier<DataSource> databases) {
		this.databases = databases;
	}

	boolean isMySqlCompatible() {
		return ordinal() >= MARIADB.ordinal();
	}

	/**
	 * Waits until a transaction waits for another one, or on H2 until it has begun to.
	 */
	void awaitWaiting(DataSource dataSource) {
		JdbcTemplate jdbc = new JdbcTemplate(dataSource);
		Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> !jdbc.queryForList(waiting()).isEmpty());
	}

	private String waiting() {
		if (this == H2) {
			return """
					SELECT session_id FROM information_schema.sessions
					WHERE session_id <> SESSION_ID() AND executing_statement IS NOT NULL""";
		}
		if (this == POSTGRESQL) {
			return """
					SELECT pid FROM pg_stat_activity
					WHERE datname = current_database() AND wait_event_type = 'Lock'""";
		}
		return """
				SELECT trx_id FROM information_schema.innodb_trx
				WHERE trx_state = 'LOCK WAIT' AND trx_mysql_thread_id IN (
					SELECT id FROM information_schema.processlist WHERE db = DATABASE())""";
	}

	DataSource create() {
		return withTable(this.databases.get());
	}

	static DataSource withTable(DataSource dataSource) {
		try (Connection connection = dataSource.getConnection()) {
			String script = FenceDialects.resolve(connection, FenceSettings.DEFAULT_TABLE).schema();
			ScriptUtils.executeSqlScript(connection, new ByteArrayResource(script.getBytes()));
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
		return dataSource;
	}

}
