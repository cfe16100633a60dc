package io.distributedlock.jdbc.dialect;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.jdbc.connection.DedicatedConnection;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.provider.Deadline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@Tag("full")
class PostgresSessionTests {

	private static final Duration CALL_TIMEOUT = Duration.ofSeconds(1);

	private final PGSimpleDataSource database = TestDatabases.postgres();

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void boundsOfLocksFollowTheInitSqlOfTheApplication(boolean byUrl) throws Exception {
		try (HikariDataSource application = new HikariDataSource()) {
			if (byUrl) {
				application.setJdbcUrl(this.database.getUrl());
				application.setUsername("postgres");
			}
			else {
				application.setDataSource(this.database);
			}
			application.setConnectionInitSql("SET application_name = 'shop'; SET statement_timeout = '30s'");
			try (LockDataSource locks = LockDataSource.derive(application, 1, CALL_TIMEOUT)) {
				try (Connection connection = borrow(locks)) {
					assertThat(setting(connection, "application_name")).isEqualTo("shop");
					assertThat(setting(connection, "statement_timeout")).isEqualTo("1s");
					assertThat(setting(connection, "lock_timeout")).isEqualTo("500ms");
				}
				try (DedicatedConnection listening = await().ignoreExceptionsInstanceOf(SQLException.class)
					.until(() -> locks.connections().openDedicated(), Objects::nonNull)) {
					assertThat(setting(listening.connection(), "application_name")).isEqualTo("shop");
					assertThat(setting(listening.connection(), "statement_timeout")).isEqualTo("1s");
				}
			}
			try (Connection connection = application.getConnection()) {
				assertThat(setting(connection, "statement_timeout")).isEqualTo("30s");
			}
		}
	}

	/** A busy machine may open no connection within one call time-out. */
	private static Connection borrow(LockDataSource locks) {
		return await().ignoreExceptionsInstanceOf(LockProviderException.class)
			.until(() -> locks.connections().borrow(Deadline.after(CALL_TIMEOUT)), Objects::nonNull);
	}

	private static String setting(Connection connection, String name) {
		return new JdbcTemplate(new SingleConnectionDataSource(connection, true))
			.queryForObject("SELECT current_setting(?)", String.class, name);
	}

	@Test
	void directConnectionIsNotPooled() throws SQLException {
		try (Connection connection = this.database.getConnection()) {
			assertThat(new PostgresDialect("locks").isPooled(connection)).isFalse();
		}
	}

	@Test
	void connectionToAnotherDatabaseIsLeftAlone() throws SQLException {
		try (Connection connection = TestDatabases.h2().getConnection()) {
			assertThat(new PostgresDialect("locks").isPooled(connection)).isFalse();
		}
	}

}
