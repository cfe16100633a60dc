package io.distributedlock.jdbc.dialect;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.jdbc.datasource.init.ScriptUtils;

import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.jdbc.dialect.Dialect.Renewal;
import io.distributedlock.jdbc.dialect.PortableDialect.Database;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.RenewalOutcome;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs the statements for Oracle, SQL Server and Db2 in the modes of H2 that are like
 * them. What these do not allow is replaced: the clocks, the types {@code CODEUNITS32}
 * and {@code NONCLUSTERED}, the constants with {@code 0x} and {@code BX}. The statements
 * that set up a session and that validate one are not run at all.
 */
class UntestedDialectTests {

	private static final String CLOCK = """
			DATEDIFF(MICROSECOND, TIMESTAMP WITH TIME ZONE '1970-01-01 00:00:00+00', CURRENT_TIMESTAMP(6))""";

	@ParameterizedTest
	@CsvSource({ "ORACLE, Oracle", "SQLSERVER, MSSQLServer", "DB2, DB2" })
	void statementsRunInTheModeOfH2(Database database, String mode) throws SQLException {
		Dialect dialect = new PortableDialect(database, "distributed_lock");
		try (Connection connection = rewriting(TestDatabases.h2(";MODE=" + mode).getConnection(),
				dialect.sql("{clock}"))) {
			String script = dialect.schema()
				.replace(" CODEUNITS32", "")
				.replace(" NONCLUSTERED", "")
				.replaceAll("BX('[^']*')", "X$1")
				.replaceAll("0x(\\w+)", "X'$1'");
			ScriptUtils.executeSqlScript(connection, new ByteArrayResource(script.getBytes()));
			assertThat(TableShape.read(connection, dialect)).isEqualTo(new TableShape(List.of(), true, true));
			dialect.checkWritable(connection);
			assertThat(dialect.readStatus(connection).format()).isEqualTo(2);
			assertThatLocksAreRenewedListedAndSwept(connection, dialect);
			RowRuleTests.assertThatStatementsFollowTheRule(connection, dialect);
		}
	}

	private static void assertThatLocksAreRenewedListedAndSwept(Connection connection, Dialect dialect)
			throws SQLException {
		String owner = LockRow.heldBy(OwnerId.random());
		assertThat(
				dialect.attempt(connection, new RowAttempt("app:a", owner, 60_000_000, "host", "p", false, null), true))
			.satisfies((row) -> assertThat(row.isHeldBy(owner)).isTrue());
		assertThat(dialect.renew(connection,
				List.of(new Renewal("app:a", owner, 90_000_000),
						new Renewal("app:a", LockRow.heldBy(OwnerId.random()), 90_000_000))))
			.containsExactly(RenewalOutcome.RENEWED, RenewalOutcome.NOT_HELD);
		assertThat(dialect.readHeld(connection, "app:", "app;", 10)).singleElement()
			.satisfies((held) -> assertThat(held.key()).isEqualTo("app:a"));
		assertThat(dialect.release(connection, "app:a", owner, "p")).isTrue();
		assertThat(dialect.readHeld(connection, "app:", "app;", 10)).isEmpty();
		assertThat(dialect.readSweepCandidates(connection, "", 1, -5_000_000)).singleElement()
			.satisfies((row) -> assertThat(row.key()).isEqualTo(LockKeyEncoder.FORMAT_ROW));
		assertThat(dialect.sweep(connection, List.of("app:a", LockKeyEncoder.FORMAT_ROW), -5_000_000)).isEqualTo(1);
	}

	/** Returns a connection that reads H2's clock in place of another one. */
	private static Connection rewriting(Connection target, String clock) {
		return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
				new Class<?>[] { Connection.class }, (proxy, method, arguments) -> {
					if (method.getName().equals("prepareStatement")) {
						arguments[0] = ((String) arguments[0]).replace(clock, CLOCK);
					}
					try {
						return method.invoke(target, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

}
