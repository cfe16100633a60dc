package io.distributedlock.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.mockito.AdditionalAnswers;
import org.mockito.Answers;

import org.springframework.jdbc.core.JdbcTemplate;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.jdbc.WaitingTransactions;
import io.distributedlock.jdbc.dialect.DatabaseKind;
import io.distributedlock.jdbc.dialect.SqlErrors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;

/** The statements on the fences, in each database. */
@Tag("full")
class FenceDialectTests {

	private static final Map<FenceDatabase, DataSource> DATABASES = new EnumMap<>(FenceDatabase.class);

	private final String key = "redis:app:" + UUID.randomUUID();

	private static DataSource database(FenceDatabase database) {
		return DATABASES.computeIfAbsent(database, FenceDatabase::create);
	}

	private static Connection begin(DataSource dataSource) throws SQLException {
		Connection connection = dataSource.getConnection();
		connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
		connection.setAutoCommit(false);
		return connection;
	}

	private static boolean advance(Connection connection, String key, long token, int seconds) throws SQLException {
		return FenceDialect.of(connection, FenceSettings.DEFAULT_TABLE).advance(connection, key, token, seconds);
	}

	private boolean advance(Connection connection, long token) throws SQLException {
		return advance(connection, this.key, token, 20);
	}

	private static <T> FutureTask<T> start(Callable<T> work) {
		FutureTask<T> task = new FutureTask<>(work);
		Thread thread = new Thread(task, "successor");
		thread.setDaemon(true);
		thread.start();
		return task;
	}

	@ParameterizedTest
	@EnumSource
	void fenceRisesAndNeverFalls(FenceDatabase database) throws SQLException {
		try (Connection connection = begin(database(database))) {
			assertThat(advance(connection, 7)).isTrue();
			assertThat(advance(connection, 7)).as("equal").isTrue();
			connection.commit();
			assertThat(advance(connection, 7)).as("equal, in a later transaction").isTrue();
			assertThat(advance(connection, 6)).as("lower").isFalse();
			connection.commit();
			assertThat(advance(connection, Long.MAX_VALUE - 1)).as("higher").isTrue();
			connection.rollback();
			assertThat(advance(connection, 6)).as("lower than the committed one").isFalse();
			connection.rollback();
			assertThat(advance(connection, 8)).as("after a rollback").isTrue();
			connection.rollback();
		}
	}

	/** MySQL does not tell whether it has inserted a fence or left it alone. */
	@ParameterizedTest
	@EnumSource
	void newFenceTakesOneStatementWhereTheDatabaseReturnsIt(FenceDatabase database) throws SQLException {
		try (Connection connection = begin(database(database))) {
			FenceDialect dialect = FenceDialect.of(connection, FenceSettings.DEFAULT_TABLE);
			Connection counted = mock(Connection.class, AdditionalAnswers.delegatesTo(connection));
			assertThat(dialect.advance(counted, this.key, 7, 20)).isTrue();
			int statements = database.name().startsWith("MYSQL") ? 2 : 1;
			then(counted).should(times(statements)).prepareStatement(anyString());
			connection.rollback();
		}
	}

	@ParameterizedTest
	@EnumSource
	void successorWaitsAndThenReadsWhatItsPredecessorWrote(FenceDatabase database) throws Exception {
		DataSource dataSource = database(database);
		JdbcTemplate jdbc = new JdbcTemplate(dataSource);
		jdbc.execute("DROP TABLE IF EXISTS account");
		jdbc.execute("CREATE TABLE account (balance INT)");
		jdbc.execute("INSERT INTO account VALUES (1)");
		for (boolean known : new boolean[] { false, true }) {
			int before = jdbc.queryForObject("SELECT balance FROM account", Integer.class);
			long base = known ? 100 : 10;
			try (Connection predecessor = begin(dataSource); Connection successor = begin(dataSource)) {
				assertThat(advance(predecessor, base)).isTrue();
				FutureTask<Boolean> waiting = start(() -> advance(successor, base + 1));
				new WaitingTransactions(database(database)).await(waiting);
				execute(predecessor, "UPDATE account SET balance = balance + 1");
				predecessor.commit();
				assertThat(waiting.get(30, TimeUnit.SECONDS)).isTrue();
				try (Statement statement = successor.createStatement();
						var row = statement.executeQuery("SELECT balance FROM account")) {
					row.next();
					assertThat(row.getInt(1)).isEqualTo(before + 1);
				}
				successor.commit();
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void lateHolderThatHasWaitedIsRefused(FenceDatabase database) throws Exception {
		for (long base : new long[] { 10, 100 }) {
			try (Connection successor = begin(database(database)); Connection late = begin(database(database))) {
				assertThat(advance(successor, base + 1)).isTrue();
				FutureTask<Boolean> waiting = start(() -> advance(late, base));
				new WaitingTransactions(database(database)).await(waiting);
				successor.commit();
				assertThat(waiting.get(30, TimeUnit.SECONDS)).isFalse();
				late.rollback();
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void neighboursNeverWaitForEachOther(FenceDatabase database) throws SQLException {
		DataSource dataSource = database(database);
		for (int isolation : new int[] { Connection.TRANSACTION_READ_COMMITTED,
				Connection.TRANSACTION_REPEATABLE_READ }) {
			String base = this.key + ":" + isolation + ":";
			try (Connection one = begin(dataSource); Connection other = begin(dataSource)) {
				if (database != FenceDatabase.H2) {
					one.rollback();
					other.rollback();
					one.setTransactionIsolation(isolation);
					other.setTransactionIsolation(isolation);
				}
				for (int round = 1; round <= 2; round++) {
					for (char name = 'a'; name <= 'h'; name += 2) {
						assertThat(advance(one, base + name, round, 20)).isTrue();
						assertThat(advance(other, base + (char) (name + 1), round, 20)).isTrue();
					}
					one.commit();
					other.commit();
				}
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void waitEndsAndTheTimeoutDoesNotOutliveTheStatement(FenceDatabase database) throws SQLException {
		try (Connection holder = begin(database(database)); Connection waiting = begin(database(database))) {
			assertThat(advance(holder, 1)).isTrue();
			assertThatExceptionOfType(SQLException.class).isThrownBy(() -> advance(waiting, this.key, 2, 1))
				.satisfies((ex) -> assertThat(SqlErrors.classify(ex))
					.as(ex + " " + ex.getSQLState() + " " + ex.getErrorCode())
					.isEqualTo(LockError.STORE_TIMEOUT));
			waiting.rollback();
			holder.commit();
			try (Statement statement = waiting.createStatement()) {
				assertThat(statement.getQueryTimeout()).isZero();
			}
			assertThat(advance(waiting, 2)).isTrue();
			waiting.rollback();
		}
	}

	/** At REPEATABLE READ and above, a successor that has waited is refused for retry. */
	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void snapshotIsNeverOlderThanTheFence(FenceDatabase database) throws Exception {
		try (Connection predecessor = begin(database(database)); Connection successor = begin(database(database))) {
			assertThat(advance(predecessor, 1)).isTrue();
			successor.rollback();
			successor.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
			FutureTask<String> waiting = start(() -> {
				try {
					return Boolean.toString(advance(successor, 2));
				}
				catch (SQLException ex) {
					return ex.getSQLState();
				}
			});
			new WaitingTransactions(database(database)).await(waiting);
			predecessor.commit();
			assertThat(waiting.get(30, TimeUnit.SECONDS)).isEqualTo("40001");
			successor.rollback();
			assertThat(advance(successor, 2)).as("repeated").isTrue();
			successor.rollback();
			successor.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
		}
	}

	/** The snapshot begins with the first plain SELECT, which comes after the wait. */
	@ParameterizedTest
	@EnumSource(mode = Mode.MATCH_ANY, names = "M.*")
	void snapshotBeginsAfterTheFence(FenceDatabase database) throws Exception {
		DataSource dataSource = database(database);
		JdbcTemplate jdbc = new JdbcTemplate(dataSource);
		jdbc.execute("CREATE TABLE IF NOT EXISTS snapshots (v INT)");
		jdbc.execute("DELETE FROM snapshots");
		jdbc.execute("INSERT INTO snapshots VALUES (1)");
		// The first time the fence is inserted, which is read again after the statement.
		for (int round = 1; round <= 2; round++) {
			try (Connection predecessor = begin(dataSource); Connection successor = dataSource.getConnection()) {
				successor.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
				successor.setAutoCommit(false);
				String second = this.key + "-second";
				assertThat(advance(predecessor, this.key, round * 10, 20)).isTrue();
				assertThat(advance(predecessor, second, round * 10, 20)).isTrue();
				int expected = round + 1;
				FutureTask<Integer> waiting = start(() -> {
					assertThat(advance(successor, this.key + "-own", expected, 20)).isTrue();
					assertThat(advance(successor, second, expected * 10, 20)).isTrue();
					try (Statement statement = successor.createStatement();
							var row = statement.executeQuery("SELECT v FROM snapshots")) {
						row.next();
						return row.getInt(1);
					}
				});
				new WaitingTransactions(database(database)).await(waiting);
				execute(predecessor, "UPDATE snapshots SET v = " + expected);
				predecessor.commit();
				assertThat(waiting.get(30, TimeUnit.SECONDS)).isEqualTo(expected);
				successor.rollback();
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void onlyOldFencesAreSwept(FenceDatabase database) throws Exception {
		DataSource dataSource = database(database);
		FenceSweeper sweeper = new FenceSweeper(
				new FenceSettings(FenceSettings.DEFAULT_TABLE, "app", Duration.ofSeconds(5), Duration.ofSeconds(30)),
				new io.distributedlock.provider.LockTimer());
		try (Connection connection = begin(dataSource); Connection open = begin(dataSource)) {
			for (String name : new String[] { "young", "old", "moving" }) {
				assertThat(advance(connection, this.key + name, 5, 20)).isTrue();
			}
			connection.commit();
			for (String name : new String[] { "old", "moving" }) {
				makeOld(connection, this.key + name);
			}
			connection.commit();
			assertThat(advance(open, this.key + "moving", 6, 20)).isTrue();
			assertThat(sweeper.run(dataSource)).isEqualTo(1);
			open.commit();
			assertThat(sweeper.run(dataSource)).isZero();
			assertThat(advance(connection, this.key + "old", 4, 20)).as("forgotten").isTrue();
			assertThat(advance(connection, this.key + "moving", 5, 20)).isFalse();
			assertThat(advance(connection, this.key + "young", 4, 20)).isFalse();
			connection.rollback();
		}
		finally {
			sweeper.close();
		}
	}

	@ParameterizedTest
	@CsvSource({ "8.0.11-TiDB-v7.5.0, TiDB", "8.0.30-Vitess, Vitess", "5.7.44-log, MySQL 5.7.44-log",
			"10.5.29-MariaDB, MariaDB 10.5.29" })
	void serverThatKeepsNoLocksKeepsNoFences(String version, String name) throws SQLException {
		Connection connection = TestDatabases.server("MySQL", version, version);
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> FenceDialect.of(connection, FenceSettings.DEFAULT_TABLE))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.FENCE_UNSUPPORTED))
			.withMessageContaining(name);
	}

	@Test
	void databaseThatOnlySpeaksAsPostgresKeepsNoFences() throws SQLException {
		try (Connection connection = TestDatabases.postgresAs("CockroachDB CCL v24.1.0").getConnection()) {
			assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> FenceDialect.of(connection, FenceSettings.DEFAULT_TABLE))
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.FENCE_UNSUPPORTED))
				.withMessageContaining("CockroachDB");
		}
	}

	@Test
	void databaseWithPlainStatementsKeepsNoFences() throws SQLException {
		for (DataSource database : List.of(TestDatabases.hsqldb(), TestDatabases.derby())) {
			try (Connection connection = database.getConnection()) {
				String name = DatabaseKind.of(connection).name();
				assertThatExceptionOfType(LockConfigurationException.class)
					.isThrownBy(() -> FenceDialect.of(connection, FenceSettings.DEFAULT_TABLE))
					.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.FENCE_UNSUPPORTED))
					.withMessageContaining(name);
			}
		}
	}

	private static void makeOld(Connection connection, String key) throws SQLException {
		FenceDialect dialect = FenceDialect.of(connection, FenceSettings.DEFAULT_TABLE);
		try (var statement = connection.prepareStatement("UPDATE " + dialect.table()
				+ " SET changed_at = TIMESTAMP '2001-01-01 00:00:00' WHERE fence_key = ?")) {
			statement.setObject(1, dialect.parameter(key));
			assertThat(statement.executeUpdate()).isEqualTo(1);
		}
	}

	private static void execute(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	@ParameterizedTest
	@CsvSource({ "jdbc:mysql://h:3306/a?x=1, jdbc:mysql://h:3306/b?x=2, true",
			"'jdbc:mariadb:replication://h1,h2/a', 'jdbc:mariadb:replication://h1,h2/b', true",
			"jdbc:mysql://h1/a, jdbc:mysql://h2/a, false", "jdbc:mysql:///a, jdbc:mysql:///b, true" })
	void databaseOfAUrlDoesNotMatterToATableWithADatabase(String first, String second, boolean same)
			throws SQLException {
		FenceDialect dialect = new FenceDialect(DatabaseKind.MYSQL, "fences.distributed_lock_fence");
		assertThat(dialect.location(connected(first)).equals(dialect.location(connected(second)))).isEqualTo(same);
		FenceDialect unqualified = new FenceDialect(DatabaseKind.MYSQL, "distributed_lock_fence");
		assertThat(unqualified.location(connected(first))).isNotEqualTo(unqualified.location(connected(second)));
	}

	private static Connection connected(String url) throws SQLException {
		Connection connection = mock(Connection.class, Answers.RETURNS_DEEP_STUBS);
		given(connection.getMetaData().getURL()).willReturn(url);
		return connection;
	}

}
