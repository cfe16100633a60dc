package io.distributedlock.jdbc.dialect;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.ds.PGSimpleDataSource;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.jdbc.ImitatedDatabase;
import io.distributedlock.jdbc.JdbcLockProvider;
import io.distributedlock.jdbc.JdbcLockSettings;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class DialectTests {

	private static Connection server(String product, String version) throws SQLException {
		return TestDatabases.server(product, version, version);
	}

	/** ProxySQL announces 8.0.11 unless it is told another version. */
	@Test
	void serverBehindAProxyIsAskedForItsVersion() throws SQLException {
		assertThat(
				DatabaseKind.of(TestDatabases.server("MySQL", "8.0.11", "11.4.5-MariaDB")).dialect("distributed_lock"))
			.isInstanceOf(MariaDbDialect.class);
		assertThat(DatabaseKind.of(TestDatabases.server("MySQL", "5.5.30", "8.4.3")).dialect("distributed_lock"))
			.isInstanceOf(MySqlDialect.class);
	}

	@ParameterizedTest
	@CsvSource({ "MariaDB, 10.5.29-MariaDB", "MySQL, 5.5.5-10.5.29-MariaDB", "MySQL, 5.7.44-log",
			"H2, 1.4.200 (2019-10-14)", "H2, 2.1.214 (2022-06-13)" })
	void serverThatIsTooOldIsRefused(String product, String version) throws SQLException {
		Connection connection = server(product, version);
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> DatabaseKind.of(connection).dialect("distributed_lock"))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_TOO_OLD))
			.withMessageContaining(version)
			.withMessageContaining("or later");
	}

	@ParameterizedTest
	@CsvSource({ "MariaDB, 10.6.0-MariaDB", "MySQL, 5.5.5-10.11.6-MariaDB-log", "MariaDB, 11.4.5-MariaDB-ubu2404" })
	void laterMariaDbIsSupported(String product, String version) throws SQLException {
		assertThat(DatabaseKind.of(server(product, version)).dialect("distributed_lock"))
			.isInstanceOf(MariaDbDialect.class);
	}

	@ParameterizedTest
	@CsvSource({ "8.0.15", "8.4.3-log", "9.1.0", "8.0.mysql_aurora.3.04.0" })
	void laterMySqlIsSupported(String version) throws SQLException {
		assertThat(DatabaseKind.of(server("MySQL", version)).dialect("distributed_lock"))
			.isInstanceOf(MySqlDialect.class);
	}

	@ParameterizedTest
	@CsvSource({ "8.0.11-TiDB-v7.5.0, TiDB", "8.0.30-Vitess, Vitess", "5.7.25-OceanBase-v4.2.1, OceanBase" })
	void serverThatOnlySpeaksAsMySqlIsRefusedByName(String version, String name) throws SQLException {
		Connection connection = server("MySQL", version);
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> DatabaseKind.of(connection).dialect("distributed_lock"))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NO_PROVIDER))
			.withMessageContaining(name);
	}

	@ParameterizedTest
	@CsvSource({ "CockroachDB CCL v24.1.0 (x86_64-pc-linux-gnu), CockroachDB",
			"PostgreSQL 11.2-YB-2.20.1.0-b0 on x86_64, YugabyteDB", "EnterpriseThing 1.0, EnterpriseThing" })
	void serverThatOnlySpeaksAsPostgresIsRefusedByName(String version, String name) {
		PGSimpleDataSource database = TestDatabases.postgresAs(version);
		try (LockTimer timer = new LockTimer();
				JdbcLockProvider provider = new JdbcLockProvider(LockDataSource.of(database, 2),
						JdbcLockSettings.defaults("app"), timer)) {
			assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> provider.check(Duration.ofSeconds(10)))
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NO_PROVIDER))
				.withMessageContaining(name);
		}
	}

	@ParameterizedTest
	@CsvSource({ "true", "false" })
	void otherDatabaseIsRefusedByName(boolean own) {
		HikariDataSource application = new HikariDataSource();
		application.setJdbcUrl(ImitatedDatabase.url("SQLite", 3));
		try (application;
				LockTimer timer = new LockTimer();
				JdbcLockProvider provider = new JdbcLockProvider(
						own ? LockDataSource.derive(application, 2, Duration.ofSeconds(10))
								: LockDataSource.of(application, 2),
						JdbcLockSettings.defaults("app"), timer)) {
			assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> provider.check(Duration.ofSeconds(10)))
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NO_PROVIDER))
				.withMessageContaining("'SQLite' is not supported")
				.satisfies((ex) -> assertThat(ex.action()).contains("PostgreSQL, MySQL, MariaDB, H2, HSQLDB or Derby"));
		}
	}

	@ParameterizedTest
	@CsvSource({ "HSQL Database Engine, 1", "Apache Derby, 9", "Oracle, 18", "Microsoft SQL Server, 12",
			"DB2/NT64, 10" })
	void portableDatabaseThatIsTooOldIsRefused(String product, int version) throws SQLException {
		try (Connection connection = DriverManager.getConnection(ImitatedDatabase.url(product, version))) {
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> DatabaseKind.of(connection))
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_TOO_OLD));
		}
	}

	@ParameterizedTest
	@CsvSource({ "Oracle, 23, ORACLE", "Microsoft SQL Server, 16, SQLSERVER", "DB2/LINUXX8664, 12, DB2" })
	void databaseWithoutTestsIsKnownByItsName(String product, int version, DatabaseKind kind) throws SQLException {
		try (Connection connection = DriverManager.getConnection(ImitatedDatabase.url(product, version))) {
			assertThat(DatabaseKind.of(connection)).isEqualTo(kind);
			assertThat(kind.dialect("shop_lock").schema()).contains("CREATE TABLE shop_lock");
			assertThat(kind.dialect("shop_lock").untested()).isNotNull();
		}
	}

	@ParameterizedTest
	@CsvSource({ "UTC", "Asia/Kolkata", "America/St_Johns" })
	void clockOfH2DoesNotDependOnTheTimeZone(String zone) throws SQLException {
		try (Connection connection = TestDatabases.withTable(TestDatabases.h2(";TIME ZONE=" + zone)).getConnection()) {
			long micros = DatabaseKind.of(connection).dialect("distributed_lock").readStatus(connection).clockMicros();
			assertThat(Duration.ofMillis(Math.abs(System.currentTimeMillis() - micros / 1000)))
				.isLessThan(Duration.ofMinutes(10));
		}
	}

	@Test
	void otherDatabaseIsRefused() throws SQLException {
		Connection connection = server("Firebird", "5.0");
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> DatabaseKind.of(connection).dialect("distributed_lock"))
			.withMessageContaining("'Firebird' is not supported");
	}

}
