package io.distributedlock.jdbc.dialect;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.RenewalOutcome;

/**
 * Dialect of databases that get no statements of their own: plain updates, inserts and
 * queries of standard SQL, each in autocommit mode. An update returns no row, so that the
 * row is read after it and tells by its owner what the attempt has got.
 * <p>
 * The parameters of an attempt have names, because the rule repeats them.
 */
final class PortableDialect extends Dialect {

	private static final String ATTEMPT = "UPDATE {table} SET {attempt} WHERE lock_key = :key";

	/** Begins no transaction and reads no clock before: it is judged by no time. */
	private static final String ATTEMPT_FREE = """
			UPDATE {table} SET owner = {newOwner}, holder = {newHolder}, acquired_at = {clock},
				grant_order = CASE WHEN grant_order < {clock} THEN {clock} ELSE grant_order + 1 END,
				expires_at = {clock} + {lease}
			WHERE lock_key = :key AND {uncontended}""";

	private static final String INSERT = """
			INSERT INTO {table} ({names})
			VALUES (:key, {newOwner}, {clock}, {clock} + {lease}, {clock}, {newHolder}, {noEntries})""";

	private static final String INSERT_ROW = "INSERT INTO {table} ({names}) VALUES (?, {noLock(1)})";

	private static final String RENEW = """
			UPDATE {table} SET expires_at = {clock} + ? WHERE lock_key = ? AND owner = ? AND expires_at > {clock}""";

	private static final String SWEEP = "DELETE FROM {table} WHERE {deletable} AND lock_key IN (";

	private static final String END = "\0";

	private static final Pattern PARAMETER = Pattern.compile(":([a-z]\\w*)");

	private final Database database;

	PortableDialect(Database database, String table) {
		super(database.name().toLowerCase(Locale.ROOT), table, words(database), ATTEMPT, ATTEMPT_FREE);
		this.database = database;
	}

	private static SqlWords words(Database database) {
		return SqlWords.of("row", "")
			.with("now", "CAST(:now AS {number})")
			.with("process", "CAST(:process AS VARCHAR(32))")
			.with("newOwner", ":owner")
			.with("newHolder", ":holder")
			.with("lease", "CAST(:lease AS {number})")
			.with("leaseEnd", "{now} + {lease}")
			.with("since", "CAST(:since AS {number})")
			.with("number", (database == Database.ORACLE) ? "NUMBER(19)" : "BIGINT")
			.with("entryMicros", Long.toString(POLLED_ENTRY_MICROS))
			.with("reservedFor", (database == Database.SQLSERVER) ? "'reserved:' + %s" : "'reserved:' || %s")
			.with("granted", "{acquirable}")
			.with("grantedOrder", "{raisedOrder}")
			.with("keptOrder", "grant_order")
			.with("busyOwner", "owner")
			.with("clock", database.clock.strip())
			.with("clockNow", "{clock}")
			.with("releasedAt", "{clock}")
			.with("reservationMicros", Long.toString(POLLED_RESERVATION_MICROS))
			.with("releaser", "?")
			.with("ignore", "")
			.with("limit", "OFFSET 0 ROWS FETCH NEXT ? ROWS ONLY");
	}

	@Override
	public @Nullable String untested() {
		return this.database.untested;
	}

	/** The drivers of embedded databases abort nothing that waits for a lock. */
	@Override
	public boolean isAbortable() {
		return this.database.untested != null;
	}

	@Override
	public String validationQuery() {
		return this.database.validationQuery;
	}

	@Override
	public List<String> sessionSettings(Duration callTimeout) {
		long millis = Math.max(callTimeout.toMillis() / 2, 1);
		return switch (this.database) {
			case SQLSERVER -> List.of("SET LOCK_TIMEOUT " + millis);
			case DB2 -> List.of("SET CURRENT LOCK TIMEOUT " + Math.max(millis / 1000, 1));
			default -> List.of();
		};
	}

	@Override
	public boolean supportsRowLocks() {
		return false;
	}

	@Override
	RowLockSession rowLockSession() {
		throw new UnsupportedOperationException("No row locks");
	}

	/**
	 * Ends each key with a zero byte: Derby takes bytes that differ by spaces at their
	 * end for the same, and Oracle an empty key for {@code NULL}.
	 */
	@Override
	Object stored(String key) {
		return super.stored(key + END);
	}

	@Override
	String key(ResultSet row, int column) throws SQLException {
		String stored = super.key(row, column);
		return stored.endsWith(END) ? stored.substring(0, stored.length() - END.length()) : stored;
	}

	@Override
	boolean isNumber(int type) {
		return super.isNumber(type) || (this.database == Database.ORACLE && type == Types.NUMERIC);
	}

	@Override
	boolean isKeyUnique(Connection connection) throws SQLException {
		Object key = stored(LockKeyEncoder.NO_ROW);
		connection.setAutoCommit(false);
		try {
			Sql.update(connection, sql(INSERT_ROW), key);
			Sql.update(connection, sql(INSERT_ROW), key);
			return false;
		}
		catch (SQLException ex) {
			if (SqlErrors.isDuplicateKey(ex)) {
				return true;
			}
			throw ex;
		}
		finally {
			connection.rollback();
			connection.setAutoCommit(true);
		}
	}

	/**
	 * Judges a row by one instant, which is that of the read before: some databases have
	 * no clock that stands still within a statement.
	 */
	@Override
	public LockRow attempt(Connection connection, RowAttempt attempt, boolean expectsFree) throws SQLException {
		if (!expectsFree || update(connection, ATTEMPT_FREE, attempt, 0) == 0) {
			LockRow row = read(connection, attempt.key());
			if (row == null) {
				update(connection, INSERT, attempt, 0);
			}
			else if (!expectsFree || row.mayBeChangedBy(attempt)) {
				update(connection, ATTEMPT, attempt, row.nowMicros());
			}
			else {
				return row;
			}
		}
		LockRow row = read(connection, attempt.key());
		// Its lease was so short that the row was deleted since.
		return (row != null) ? row : attempt(connection, attempt, false);
	}

	private int update(Connection connection, String template, RowAttempt attempt, long now) throws SQLException {
		Map<String, Object> values = Map.of("key", stored(attempt.key()), "owner", attempt.owner(), "lease",
				attempt.leaseMicros(), "holder", attempt.holder(), "process", attempt.process(), "now", now, "since",
				Math.min(attempt.waitsSinceMicros(), now));
		Matcher parameters = PARAMETER.matcher(sql(template));
		List<Object> arguments = new ArrayList<>();
		String sql = parameters.replaceAll((parameter) -> {
			arguments.add(values.get(parameter.group(1)));
			return "?";
		});
		return Sql.update(connection, sql, arguments.toArray());
	}

	/** Renews by a batch. It waits for a row that another transaction has locked. */
	@Override
	public List<RenewalOutcome> renew(Connection connection, List<Renewal> renewals) throws SQLException {
		int[] counts = Sql.batch(connection, sql(RENEW),
				renewals.stream()
					.map((renewal) -> new Object[] { renewal.leaseMicros(), stored(renewal.key()), renewal.owner() })
					.toList());
		return Arrays.stream(counts).mapToObj(PortableDialect::outcome).toList();
	}

	/** A driver may not say how many rows were changed. */
	private static RenewalOutcome outcome(int count) {
		return (count > 0) ? RenewalOutcome.RENEWED : (count == 0) ? RenewalOutcome.NOT_HELD : RenewalOutcome.UNKNOWN;
	}

	@Override
	public int sweep(Connection connection, List<String> keys, long retentionMicros) throws SQLException {
		return Sql.updateIn(connection, sql(SWEEP), retentionMicros, keys.stream().map(this::stored).toList());
	}

	/** What differs between the databases. */
	enum Database {

		HSQLDB(null, "UNIX_MILLIS() * 1000", "VALUES 1"),

		/** Derby's own clock is in the time zone of its process. */
		DERBY(null, "{table}_clock() * 1000", "VALUES 1"),

		ORACLE("Oracle",
				"""
						TRUNC(EXTRACT(DAY FROM {sinceEpoch}) * 86400000000 + EXTRACT(HOUR FROM {sinceEpoch}) * 3600000000
							+ EXTRACT(MINUTE FROM {sinceEpoch}) * 60000000 + EXTRACT(SECOND FROM {sinceEpoch}) * 1000000)"""
					.replace("{sinceEpoch}", "(SYS_EXTRACT_UTC(SYSTIMESTAMP) - TIMESTAMP '1970-01-01 00:00:00')"),
				"SELECT 1 FROM DUAL"),

		SQLSERVER("SQL Server", "DATEDIFF_BIG(MICROSECOND, '1970-01-01', SYSUTCDATETIME())", "SELECT 1"),

		DB2("Db2", """
				(BIGINT(DAYS({utc}) - DAYS('1970-01-01')) * 86400000000 + BIGINT(MIDNIGHT_SECONDS({utc})) * 1000000
					+ MICROSECOND({utc}))""".replace("{utc}", "(CURRENT TIMESTAMP - CURRENT TIMEZONE)"), "VALUES 1");

		private final @Nullable String untested;

		private final String clock;

		private final String validationQuery;

		Database(@Nullable String untested, String clock, String validationQuery) {
			this.untested = untested;
			this.clock = clock;
			this.validationQuery = validationQuery;
		}

	}

}
