package io.distributedlock.jdbc.dialect;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import io.distributedlock.jdbc.JdbcLockSettings;
import io.distributedlock.jdbc.MySqlServer;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.jdbc.dialect.LockRow.QueueEntry;
import io.distributedlock.provider.OwnerId;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs random attempts, releases and withdrawals on random rows through the statements of
 * each dialect, and compares the rows with {@link ModelRow}.
 */
@Tag("full")
class RowRuleTests {

	private static final int ROUNDS = 1_000;

	private static final String KEY = "key";

	private static final String ME = "m".repeat(32);

	private static final String MINE = LockRow.heldBy(new OwnerId("a".repeat(32)));

	private static final String OTHER = "o".repeat(32);

	private static final String THEIRS = LockRow.heldBy(new OwnerId("b".repeat(32)));

	private static final String[] OWNERS = { LockRow.FREE, MINE, THEIRS, THEIRS, LockRow.RESERVED + ME,
			LockRow.RESERVED + OTHER, LockRow.KEPT };

	private static final String[] PROCESSES = { LockRow.NONE, ME, OTHER, "t".repeat(32) };

	private static final long LONGEST_ENTRY = 3_000_000;

	private static final long KEPT_MICROS = 200_000_000;

	/** Far more than a statement takes, and less than the times of a row differ. */
	private static final long TOLERANCE = 40_000_000;

	static Stream<Arguments> databases() {
		Stream<Arguments> databases = Stream.of(database("H2", TestDatabases.h2()),
				database("HSQLDB", TestDatabases.hsqldb()), database("Derby", TestDatabases.derby()),
				database("PostgreSQL", TestDatabases.postgres()), database("MariaDB", TestDatabases.mariaDb()),
				database("MariaDB, MySQL's driver", TestDatabases.mariaDbWithMySqlDriver()),
				database("MariaDB, simultaneous assignment", TestDatabases
					.mariaDb("?sessionVariables=sql_mode='STRICT_TRANS_TABLES,SIMULTANEOUS_ASSIGNMENT'")));
		return MySqlServer.isRunnable()
				? Stream.concat(databases,
						Stream.of(database("MySQL", TestDatabases.mySql()),
								database("MySQL, MariaDB's driver", TestDatabases.mySqlWithMariaDbDriver())))
				: databases;
	}

	private static Arguments database(String name, DataSource database) {
		return Arguments.of(Named.of(name, database));
	}

	@ParameterizedTest
	@MethodSource("databases")
	void statementsFollowTheRule(DataSource database) throws SQLException {
		TestDatabases.withTable(database);
		try (Connection connection = database.getConnection()) {
			assertThatStatementsFollowTheRule(connection,
					DatabaseKind.of(connection).dialect(JdbcLockSettings.DEFAULT_TABLE));
		}
	}

	static void assertThatStatementsFollowTheRule(Connection connection, Dialect dialect) throws SQLException {
		Random random = new Random(1);
		for (int round = 0; round < ROUNDS; round++) {
			long now = dialect.readStatus(connection).clockMicros();
			ModelRow row = ModelRow.random(random, now, OWNERS, PROCESSES);
			write(connection, dialect, row);
			ModelRow expected;
			LockRow returned = null;
			String step;
			switch (random.nextInt(5)) {
				case 0 -> {
					step = "release";
					boolean held = dialect.release(connection, KEY, MINE, ME);
					assertThat(held).as("round %d: release of %s", round, row).isEqualTo(MINE.equals(row.owner()));
					expected = held ? row.release(ME, now, dialect.reservationMicros()) : row;
				}
				case 1 -> {
					step = "withdrawal";
					dialect.removeEntries(connection, KEY, ME);
					expected = row.withoutEntriesOf(ME);
				}
				case 2 -> {
					step = "release that keeps";
					boolean held = dialect.keep(connection, KEY, MINE, KEPT_MICROS);
					assertThat(held).as("round %d: release of %s", round, row).isEqualTo(MINE.equals(row.owner()));
					expected = held ? row.keep(now, KEPT_MICROS) : row;
				}
				default -> {
					Long since = (random.nextInt(4) == 0) ? null : now - 1_000_000L * (1 + random.nextInt(4));
					RowAttempt attempt = new RowAttempt(KEY, MINE, 30_000_000, "my host", ME, random.nextInt(4) > 0,
							since);
					step = attempt.toString();
					returned = dialect.attempt(connection, attempt, since == null && random.nextBoolean());
					expected = row.attempt(attempt, now, dialect.entryMicros());
				}
			}
			String description = "round " + round + ": " + step + " on " + row;
			if (returned != null) {
				assertReturned(returned, expected.seen(now), description);
			}
			assertSame(Objects.requireNonNull(dialect.read(connection, KEY)), expected.seen(now), description);
		}
	}

	/** MySQL returns no more of a grant than matters to its owner. */
	private static void assertReturned(LockRow actual, LockRow expected, String description) {
		if (expected.isHeldBy(MINE)) {
			assertThat(actual.owner()).as(description).isEqualTo(MINE);
			assertSame(actual.order(), expected.order(), expected.nowMicros(), description);
			assertNear(actual.remainingMicros(), expected.remainingMicros(), description);
		}
		else {
			assertSame(actual, expected, description);
		}
	}

	private static void assertSame(LockRow actual, LockRow expected, String description) {
		assertThat(actual.owner()).as(description).isEqualTo(expected.owner());
		assertThat(actual.holder()).as(description).isEqualTo(expected.holder());
		assertSame(actual.order(), expected.order(), expected.nowMicros(), description);
		assertNear(actual.heldMicros(), expected.heldMicros(), description);
		assertNear(actual.remainingMicros(), expected.remainingMicros(), description);
		assertSame(actual.first(), expected.first(), expected.nowMicros(), description + ": first entry");
		assertSame(actual.second(), expected.second(), expected.nowMicros(), description + ": second entry");
	}

	private static void assertSame(@Nullable QueueEntry actual, @Nullable QueueEntry expected, long now,
			String description) {
		if (actual == null && expected != null && expected.leftMicros() <= LONGEST_ENTRY) {
			// The machine has stopped for longer than a new entry is valid.
			return;
		}
		if (expected == null || actual == null) {
			assertThat(actual).as(description).isEqualTo(expected);
			return;
		}
		assertThat(actual.process()).as(description).isEqualTo(expected.process());
		assertSame(actual.sinceMicros(), expected.sinceMicros(), now, description);
		assertNear(actual.leftMicros(), expected.leftMicros(), description);
	}

	/** A number that was made from the clock is near, another one is the same. */
	private static void assertSame(long actual, long expected, long now, String description) {
		if (expected == now) {
			assertNear(actual, expected, description);
		}
		else {
			assertThat(actual).as(description).isEqualTo(expected);
		}
	}

	private static void assertNear(long actual, long expected, String description) {
		assertThat(actual).as(description).isCloseTo(expected, org.assertj.core.data.Offset.offset(TOLERANCE));
	}

	private static void write(Connection connection, Dialect dialect, ModelRow row) throws SQLException {
		Object key = dialect.stored(KEY);
		Sql.update(connection, "DELETE FROM distributed_lock WHERE lock_key = ?", key);
		Sql.update(connection, """
				INSERT INTO distributed_lock VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""", key, row.owner(),
				row.order(), row.expiresAt(), row.acquiredAt(), row.holder(), row.first().process(),
				row.first().since(), row.first().until(), row.second().process(), row.second().since(),
				row.second().until());
	}

}
