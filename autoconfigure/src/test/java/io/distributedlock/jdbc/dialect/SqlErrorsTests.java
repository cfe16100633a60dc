package io.distributedlock.jdbc.dialect;

import java.lang.reflect.Constructor;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLTimeoutException;
import java.util.List;
import java.util.Map;

import net.bytebuddy.ByteBuddy;
import org.h2.jdbc.JdbcSQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

class SqlErrorsTests {

	private static SQLException error(String state, int code) {
		return new SQLException("refused", state, code);
	}

	private static SQLException h2Error(String state, int code) {
		return new JdbcSQLException("refused", "SELECT 1", state, code, null, "");
	}

	@ParameterizedTest
	@CsvSource({ "42P01, 0, TABLE_MISSING", "42703, 0, TABLE_MISSING", "42S02, 1146, TABLE_MISSING",
			"42501, 0, NOT_PERMITTED", "42000, 1142, NOT_PERMITTED", "57014, 0, STORE_TIMEOUT",
			"70100, 1969, STORE_TIMEOUT", "70100, 1317, STORE_TIMEOUT", "55P03, 0, STORE_TIMEOUT",
			"HY000, 1205, STORE_TIMEOUT", "25006, 0, WRITES_REFUSED", "HY000, 1836, WRITES_REFUSED",
			"08006, 0, STORE_FAILED", "HY000, 1, STORE_FAILED" })
	void errorIsClassified(String state, int code, LockError expected) {
		assertThat(SqlErrors.classify(error(state, code))).isEqualTo(expected);
	}

	@ParameterizedTest
	@CsvSource({ "42S02, 42102, TABLE_MISSING", "42S22, 42122, TABLE_MISSING", "90096, 90096, NOT_PERMITTED",
			"HY000, 1142, STORE_FAILED" })
	void errorOfH2IsClassified(String state, int code, LockError expected) {
		assertThat(SqlErrors.classify(h2Error(state, code))).isEqualTo(expected);
	}

	/** As the embedded databases say it themselves. */
	@ParameterizedTest
	@ValueSource(strings = { "jdbc:hsqldb:mem:errors", "jdbc:derby:memory:errors;create=true" })
	void errorOfAnEmbeddedDatabaseIsClassified(String url) throws SQLException {
		try (Connection connection = DriverManager.getConnection(url)) {
			Sql.execute(connection, "CREATE TABLE present (id INTEGER NOT NULL PRIMARY KEY)");
			Sql.execute(connection, "INSERT INTO present VALUES (1)");
			for (String missing : List.of("SELECT id FROM absent", "SELECT absent FROM present")) {
				assertThat(SqlErrors.classify(failure(connection, missing))).isEqualTo(LockError.TABLE_MISSING);
			}
			assertThat(SqlErrors.isDuplicateKey(failure(connection, "INSERT INTO present VALUES (1)"))).isTrue();
			connection.setReadOnly(true);
			assertThat(SqlErrors.isReadOnly(failure(connection, "INSERT INTO present VALUES (2)"))).isTrue();
		}
	}

	private static SQLException failure(Connection connection, String sql) {
		return catchThrowableOfType(SQLException.class, () -> Sql.execute(connection, sql));
	}

	/** By the manuals of the databases: Derby, Oracle, and Db2 with a minus. */
	@ParameterizedTest
	@CsvSource({ "refused, 40XL1, 30000, STORE_TIMEOUT", "refused, XCL52, 30000, STORE_TIMEOUT",
			"refused, 42502, 30000, NOT_PERMITTED", "ORA-00942: refused, 42000, 942, TABLE_MISSING",
			"ORA-00904: refused, 42000, 904, TABLE_MISSING", "ORA-01031: refused, 42000, 1031, NOT_PERMITTED",
			"ORA-00054: refused, 61000, 54, STORE_TIMEOUT", "ORA-30006: refused, 61000, 30006, STORE_TIMEOUT",
			"ORA-16000: refused, 72000, 16000, WRITES_REFUSED", "refused, 42704, -204, TABLE_MISSING",
			"refused, 42703, -206, TABLE_MISSING", "refused, 42501, -551, NOT_PERMITTED" })
	void errorOfAnotherDatabaseIsClassified(String message, String state, int code, LockError expected) {
		assertThat(SqlErrors.classify(new SQLException(message, state, code))).isEqualTo(expected);
	}

	@ParameterizedTest
	@CsvSource({ "refused, 40XL1, 30000", "refused, 40001, 30000", "ORA-00060: refused, 61000, 60",
			"ORA-08177: refused, 72000, 8177", "refused, 40001, -911", "refused, 57033, -913" })
	void contentionInAnotherDatabaseIsRecognized(String message, String state, int code) {
		SQLException ex = new SQLException(message, state, code);
		assertThat(SqlErrors.isContention(ex)).isTrue();
		assertThat(SqlErrors.isDuplicateKey(ex)).isFalse();
	}

	/** The type tells the database, whose driver is not here. */
	@Test
	void errorsOfSqlServerAreClassified() throws Exception {
		Constructor<? extends SQLException> error = new ByteBuddy().subclass(SQLException.class)
			.name("com.microsoft.sqlserver.jdbc.SQLServerException")
			.make()
			.load(getClass().getClassLoader())
			.getLoaded()
			.getConstructor(String.class, String.class, int.class);
		Map<Integer, LockError> errors = Map.of(208, LockError.TABLE_MISSING, 207, LockError.TABLE_MISSING, 229,
				LockError.NOT_PERMITTED, 1222, LockError.STORE_TIMEOUT, 3906, LockError.WRITES_REFUSED);
		for (Map.Entry<Integer, LockError> expected : errors.entrySet()) {
			assertThat(SqlErrors.classify(error.newInstance("refused", "S0001", expected.getKey())))
				.isEqualTo(expected.getValue());
		}
		assertThat(SqlErrors.isContention(error.newInstance("refused", "40001", 1205))).isTrue();
		assertThat(SqlErrors.isContention(error.newInstance("refused", "S0005", 3960))).isTrue();
		assertThat(SqlErrors.isDuplicateKey(error.newInstance("refused", "23000", 2627))).isTrue();
	}

	/** Somebody has ended the statement, which says nothing of the lock. */
	@Test
	void killedStatementIsNoSignOfAnotherHolder() {
		assertThat(SqlErrors.isHeldByAnother(error("70100", 1317))).isFalse();
		assertThat(SqlErrors.isHeldByAnother(error("70100", 1969))).isTrue();
	}

	@Test
	void timeoutExceptionIsATimeout() {
		assertThat(SqlErrors.classify(new SQLTimeoutException("too slow"))).isEqualTo(LockError.STORE_TIMEOUT);
	}

	@ParameterizedTest
	@CsvSource({ "40001, 0", "40P01, 0", "55P03, 0", "HY000, 1205", "40001, 1213", "HY000, 1020" })
	void contentionIsRecognized(String state, int code) {
		assertThat(SqlErrors.isContention(error(state, code))).isTrue();
	}

	@ParameterizedTest
	@ValueSource(ints = { 40001, 50200, 90131 })
	void contentionOfH2IsRecognized(int code) {
		assertThat(SqlErrors.isContention(h2Error("HYT00", code))).isTrue();
		assertThat(SqlErrors.isContention(error("HYT00", code))).isFalse();
	}

	@Test
	void lockedRowIsDistinguishedFromADeadlock() {
		assertThat(SqlErrors.isRowLocked(error("55P03", 0))).isTrue();
		assertThat(SqlErrors.isRowLocked(error("HY000", 1205))).isTrue();
		assertThat(SqlErrors.isRowLocked(h2Error("HYT00", 50200))).isTrue();
		assertThat(SqlErrors.isRowLocked(error("40P01", 1213))).isFalse();
	}

	@Test
	void lostConnectionIsRecognized() {
		assertThat(SqlErrors.isConnectionLost(new SQLNonTransientConnectionException("gone"))).isTrue();
		assertThat(SqlErrors.isConnectionLost(error("08006", 0))).isTrue();
		assertThat(SqlErrors.isConnectionLost(error("57P01", 0))).isTrue();
		assertThat(SqlErrors.isConnectionLost(error("57014", 0))).isFalse();
		assertThat(SqlErrors.isConnectionLost(new SQLException("no state"))).isFalse();
	}

	@ParameterizedTest
	@CsvSource({ "25006, 0", "25006, 1792", "HY000, 1290", "HY000, 1836" })
	void readOnlySessionIsRecognized(String state, int code) {
		assertThat(SqlErrors.isReadOnly(error(state, code))).isTrue();
	}

	@Test
	void readOnlyDatabaseOfH2IsRecognized() {
		assertThat(SqlErrors.isReadOnly(h2Error("90097", 90097))).isTrue();
		assertThat(SqlErrors.isReadOnly(h2Error("HY000", 1290))).isFalse();
		assertThat(SqlErrors.isReadOnly(error("HY000", 1205))).isFalse();
	}

	@Test
	void missingTableIsTranslatedWithItsScript() {
		LockProviderException ex = SqlErrors.translate(error("42P01", 0), "shop_lock",
				new PostgresDialect("shop_lock"));
		assertThat(ex.error()).isEqualTo(LockError.TABLE_MISSING);
		assertThat(ex).hasMessageContaining("lacks the table 'shop_lock'")
			.hasMessageContaining("CREATE TABLE IF NOT EXISTS shop_lock");
	}

}
