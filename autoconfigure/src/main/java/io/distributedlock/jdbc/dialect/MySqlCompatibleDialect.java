package io.distributedlock.jdbc.dialect;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * What MySQL and MariaDB have in common, each through its own driver or the other's. Keys
 * are bytes, so that neither a collation nor the character set of a connection changes
 * them. Times are UTC whatever the session's time zone.
 */
abstract class MySqlCompatibleDialect extends Dialect {

	/** The most that {@code wait_timeout} can be. */
	private static final long LONGEST_IDLE_SECONDS = 31_536_000;

	private static final HexFormat HEX = HexFormat.of();

	// The answer carries LAST_INSERT_ID: the order of a grant, or 0. A row that exists
	// must set it to 0, because MySQL evaluates the inserted values first.
	private static final String ATTEMPT_FREE = """
			INSERT INTO {table} ({names}) VALUES (?, ?, LAST_INSERT_ID({clock}), {clock} + ?, {clock}, ?, {noEntries})
			ON DUPLICATE KEY UPDATE
				grant_order = IF({uncontended}, LAST_INSERT_ID({raisedOrder}), grant_order + LAST_INSERT_ID(0)),
				expires_at = IF({uncontended}, VALUES(expires_at), expires_at),
				acquired_at = IF({uncontended}, VALUES(acquired_at), acquired_at),
				holder = IF({uncontended}, VALUES(holder), holder),
				owner = IF({uncontended}, VALUES(owner), owner)""";

	/** The row that an attempt inserts; it updates one that exists by the rule. */
	static final String INSERT = """
			INSERT INTO {table} ({names})
			VALUES (?, ?, {insertedOrder}, {clock} + ?, {clock}, ?, ?, LEAST(?, {clock}), 0, {none}, 0, 0)
			ON DUPLICATE KEY UPDATE {attempt}""";

	private static final String RENEWALS = """
			JSON_TABLE(?, '$[*]' COLUMNS (k VARCHAR(4096) PATH '$[0]',
				o VARCHAR(41) CHARACTER SET ascii COLLATE ascii_bin PATH '$[1]', lease BIGINT PATH '$[2]')) w
			STRAIGHT_JOIN {table} l ON l.lock_key = UNHEX(w.k) AND l.owner = w.o
			WHERE l.expires_at > {clock}""";

	/** Reads which leases of a batch have not expired and are still of their owners. */
	static final String STILL_HELD = "SELECT l.lock_key, l.owner FROM {renewals}";

	// A scan of the table would wait for each row that a row lock has locked.
	private static final String SWEEP = """
			DELETE l FROM {table} l FORCE INDEX (PRIMARY) WHERE {deletable} AND lock_key IN (""";

	/**
	 * Creates a dialect.
	 * @param words the words {@code clockNow}, {@code insertedOrder},
	 * {@code grantedOrder}, {@code keptOrder}, and those of its own templates
	 */
	MySqlCompatibleDialect(String platform, String table, SqlWords words, String attempt) {
		super(platform, table, addTo(words), attempt, ATTEMPT_FREE);
	}

	private static SqlWords addTo(SqlWords words) {
		return words.with("row", "")
			.with("now", "VALUES(acquired_at)")
			.with("process", "VALUES(first_waiter)")
			.with("newOwner", "VALUES(owner)")
			.with("newHolder", "VALUES(holder)")
			.with("leaseEnd", "VALUES(expires_at)")
			.with("since", "VALUES(first_waiter_since)")
			.with("entryMicros", Long.toString(POLLED_ENTRY_MICROS))
			.with("reservedFor", "CONCAT('reserved:', %s)")
			.with("granted", "{acquirable} OR (owner = VALUES(owner) AND acquired_at = VALUES(acquired_at))")
			.with("busyOwner", "owner")
			.with("clock", "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))")
			.with("limit", "LIMIT ?")
			.with("releasedAt", "{clock}")
			.with("reservationMicros", Long.toString(POLLED_RESERVATION_MICROS))
			.with("renewals", RENEWALS)
			.with("releaser", "?")
			.with("byKey", "FORCE INDEX (PRIMARY)")
			.with("ignore", "IGNORE");
	}

	/**
	 * Returns what is particular to sessions that are ended once they were idle for a
	 * time. User variables have what the time-outs were until they are restored.
	 * @param bound the statement that bounds a wait for a row, or {@code null}
	 * @param timeouts the names of the time-outs, which count seconds
	 */
	static RowLockSession idleSession(@Nullable Function<Duration, String> bound, List<String> timeouts) {
		String keep = "@distributed_lock_%1$s = CAST(COALESCE(@distributed_lock_%1$s, @@%1$s) AS UNSIGNED), %1$s = ";
		return new RowLockSession("CONNECTION_ID()", bound,
				(idle) -> set(timeouts, keep + RowLockSession.seconds(idle, LONGEST_IDLE_SECONDS)),
				set(timeouts, "%1$s = @distributed_lock_%1$s, @distributed_lock_%1$s = NULL"));
	}

	private static String set(List<String> timeouts, String assignments) {
		return timeouts.stream().map(assignments::formatted).collect(Collectors.joining(", ", "SET ", ""));
	}

	@Override
	public final @Nullable String multiPrimary(Connection connection) throws SQLException {
		return MySqlCluster.multiPrimary(connection);
	}

	/** MariaDB's driver first sends a KILL over a new connection. */
	@Override
	public final boolean abortsAtOnce() {
		return false;
	}

	/**
	 * Bounds reads, because MariaDB's driver aborts a statement by a KILL over a new
	 * connection, which a server that hangs does not accept.
	 */
	@Override
	public final void limitReads(Connection connection, int millis) throws SQLException {
		connection.setNetworkTimeout(Runnable::run, millis);
	}

	@Override
	public final int readLimit(Connection connection) throws SQLException {
		return connection.getNetworkTimeout();
	}

	@Override
	final boolean mistakesGeneratedKeys() {
		return true;
	}

	@Override
	final long attemptFree(Connection connection, RowAttempt attempt) throws SQLException {
		return Sql.insert(connection, attemptFreeSql(), stored(attempt.key()), attempt.owner(), attempt.leaseMicros(),
				attempt.holder());
	}

	/**
	 * Encodes renewals in the order of the primary key, in which their rows are locked.
	 */
	static String json(List<Renewal> renewals) {
		return renewals.stream()
			.map((renewal) -> "[\"" + HEX.formatHex(renewal.key().getBytes(StandardCharsets.UTF_8)) + "\",\""
					+ renewal.owner() + "\"," + renewal.leaseMicros() + "]")
			.sorted()
			.collect(Collectors.joining(",", "[", "]"));
	}

	@Override
	public final int sweep(Connection connection, List<String> keys, long retentionMicros) throws SQLException {
		return Sql.updateIn(connection, sql(SWEEP), retentionMicros, keys.stream().map(this::stored).toList());
	}

}
