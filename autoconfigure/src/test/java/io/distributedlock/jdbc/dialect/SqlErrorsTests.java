package io.distributedlock.jdbc.dialect;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLTimeoutException;

import org.h2.jdbc.JdbcSQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;

import static org.assertj.core.api.Assertions.assertThat;

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
