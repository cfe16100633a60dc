package io.distributedlock.jdbc.dialect;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.distributedlock.jdbc.dialect.Dialect.KeyedRow;
import io.distributedlock.jdbc.dialect.Dialect.Renewal;
import io.distributedlock.jdbc.dialect.LockRow.QueueEntry;
import io.distributedlock.provider.RenewalOutcome;

/**
 * Statements of shares in standard SQL. A share is a row of a table of its own. While
 * there are shares, the row of their key in the lock table is owned by the last one that
 * was granted, and lasts as long as the longest: so it is busy to an exclusive attempt.
 * <p>
 * Each step is a transaction that first locks the row of the key, and nothing else in
 * between can change its shares. It takes the time at which it read that row as the
 * present: a wait for the row only makes shares seem to last longer. The server ends the
 * transaction of a process that stops within it. Immutable.
 */
public final class ShareStatements {

	/** How long a process may stop within a step before the server ends it. */
	private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

	private static final String LOCK = "SELECT {columns} FROM {table} WHERE lock_key = ? FOR UPDATE";

	private static final String COUNT = """
			SELECT COUNT(*), SUM(CASE WHEN expires_at > ? THEN 1 ELSE 0 END), MAX(expires_at),
				MAX(CASE WHEN owner = ? THEN grant_order END), MAX(CASE WHEN owner = ? THEN expires_at END)
			FROM {table}_share WHERE lock_key = ?""";

	private static final String JOIN = """
			UPDATE {table} SET owner = ?, grant_order = ?, expires_at = ?, acquired_at = ?, holder = ?""";

	/** The second contender in the wait queue follows the first one. */
	private static final String FIRST_LEAVES = """
			, first_waiter = second_waiter, first_waiter_since = second_waiter_since,
				first_waiter_until = second_waiter_until, second_waiter = {none}""";

	private static final String SECOND_LEAVES = ", second_waiter = {none}";

	/** Copies the grant that the row of the lock table has. */
	private static final String INSERT = """
			INSERT INTO {table}_share (lock_key, owner, grant_order, expires_at, acquired_at, holder)
			SELECT lock_key, owner, grant_order, CASE WHEN expires_at < ? THEN expires_at ELSE ? END, acquired_at, holder
			FROM {table} WHERE lock_key = ?""";

	private static final String DELETE_ENDED = "DELETE FROM {table}_share WHERE lock_key = ? AND expires_at <= ?";

	private static final String DELETE = "DELETE FROM {table}_share WHERE lock_key = ? AND owner = ?";

	private static final String SET_END = "UPDATE {table} SET expires_at = ? WHERE lock_key = ?";

	/** By key: a scan of the table would wait for each row that is locked. */
	private static final String LOCK_SHARED = """
			SELECT lock_key FROM {table} {byKey}
			WHERE owner LIKE 'shared%' AND expires_at > {clock} AND lock_key IN (""";

	private static final String EXTEND = "UPDATE {table}_share SET expires_at = {clock} + ? WHERE expires_at > {clock} AND (";

	private static final String STILL_HELD = """
			SELECT s.owner FROM {table}_share s JOIN {table} l ON l.lock_key = s.lock_key
			WHERE l.owner LIKE 'shared%' AND l.expires_at > {clock} AND s.expires_at > {clock} AND (""";

	private static final String FIT_ENDS = """
			UPDATE {table} SET expires_at = COALESCE((SELECT MAX(s.expires_at) FROM {table}_share s
				WHERE s.lock_key = {table}.lock_key), expires_at) WHERE lock_key IN (""";

	/** The columns of a row of the lock table, without a wait queue. */
	private static final String READ = """
			SELECT {clockNow}, owner, grant_order, holder, acquired_at, expires_at, {noEntries}, lock_key
			FROM {table}_share WHERE lock_key >= ? AND lock_key <= ? AND expires_at > {clock}
			ORDER BY lock_key, grant_order LIMIT ?""";

	private static final String ENDED = """
			SELECT lock_key, owner FROM {table}_share WHERE expires_at < {clock} - ?
			ORDER BY lock_key, owner LIMIT ? FOR UPDATE SKIP LOCKED""";

	private final Dialect dialect;

	public ShareStatements(Dialect dialect) {
		this.dialect = dialect;
	}

	/**
	 * Acquires a share of the row if the contender may have one, else enters the wait
	 * queue as an attempt of the whole row does.
	 * @return the row, with the owner of the attempt and its order and end if the share
	 * was granted
	 */
	public LockRow attempt(Connection connection, RowAttempt attempt) throws SQLException {
		LockRow row = null;
		while (row == null) {
			try {
				row = this.<@Nullable LockRow>inTransaction(connection, () -> attemptIn(connection, attempt));
			}
			catch (SQLException ex) {
				throw this.dialect.rowLocked(ex);
			}
		}
		return row;
	}

	/** Returns {@code null} if another share has just created the row. */
	private @Nullable LockRow attemptIn(Connection connection, RowAttempt attempt) throws SQLException {
		LockRow row = lock(connection, attempt.key());
		if (row != null && !row.isAcquirableBy(attempt.process())) {
			LockRow granted = row.isShared() ? join(connection, attempt, row) : null;
			if (granted != null || !attempt.willWait()) {
				return (granted != null) ? granted : row;
			}
		}
		// On PostgreSQL a busy answer lets the transaction commit asynchronously.
		LockRow after = this.dialect.attemptByRule(connection, attempt);
		if (after.isHeldBy(attempt.owner())) {
			update(connection, DELETE_ENDED, stored(attempt), Long.MAX_VALUE);
			insert(connection, attempt, Long.MAX_VALUE, after.first());
			return after;
		}
		return (row == null && after.isShared()) ? null : after;
	}

	/** Acquires a share beside others, or returns {@code null}. */
	private @Nullable LockRow join(Connection connection, RowAttempt attempt, LockRow row) throws SQLException {
		Shares shares = count(connection, attempt.key(), attempt.owner(), row);
		if (shares.ownEnd() > row.nowMicros()) {
			return granted(attempt, row, shares.ownOrder(), shares.ownEnd());
		}
		if (!isOpen(attempt, row, shares)) {
			return null;
		}
		if (shares.all() > shares.live()) {
			update(connection, DELETE_ENDED, stored(attempt), row.nowMicros());
		}
		long order = Math.max(row.order() + 1, row.nowMicros());
		long end = row.nowMicros() + attempt.leaseMicros();
		boolean first = row.isFirst(attempt.process());
		String leave = first ? FIRST_LEAVES : row.isQueued(attempt.process()) ? SECOND_LEAVES : "";
		update(connection, JOIN + leave + " WHERE lock_key = ?", attempt.owner(), order,
				Math.max(end, shares.lastEnd()), row.nowMicros(), attempt.holder(), stored(attempt));
		insert(connection, attempt, end, first ? row.second() : row.first());
		return granted(attempt, row, order, end);
	}

	private static LockRow granted(RowAttempt attempt, LockRow row, long order, long end) {
		return new LockRow(attempt.owner(), order, attempt.holder(), 0, end - row.nowMicros(), row.nowMicros(), null,
				null);
	}

	private void insert(Connection connection, RowAttempt attempt, long end, @Nullable QueueEntry next)
			throws SQLException {
		update(connection, INSERT, end, end, stored(attempt));
		notify(connection, attempt.key(), next);
	}

	/** Notifies a contender that may have a share beside the present ones. */
	private void notify(Connection connection, String key, @Nullable QueueEntry next) throws SQLException {
		if (next != null && next.isOfShare()) {
			this.dialect.notifyFirst(connection, key);
		}
	}

	/**
	 * Whether an attempt would be granted a share beside others, or has one already. Does
	 * not lock the row.
	 */
	public boolean isOpen(Connection connection, RowAttempt attempt, LockRow row) throws SQLException {
		if (!row.isShared()) {
			return false;
		}
		Shares shares = count(connection, attempt.key(), attempt.owner(), row);
		return shares.ownEnd() > row.nowMicros() || isOpen(attempt, row, shares);
	}

	private static boolean isOpen(RowAttempt attempt, LockRow row, Shares shares) {
		return shares.live() < attempt.limit() && row.isNext(attempt);
	}

	/**
	 * Releases a share. The last one releases the row, which is reserved for the first
	 * contender.
	 * @return whether there was the share
	 */
	public boolean release(Connection connection, String key, String owner) throws SQLException {
		return inTransaction(connection, () -> {
			LockRow row = lock(connection, key);
			if (row == null || !row.isShared() || update(connection, DELETE, this.dialect.stored(key), owner) == 0) {
				return false;
			}
			Shares left = count(connection, key, owner, row);
			if (left.live() == 0) {
				this.dialect.release(connection, key, row.owner(), LockRow.NONE);
			}
			else {
				update(connection, SET_END, left.lastEnd(), this.dialect.stored(key));
				notify(connection, key, row.first());
			}
			return true;
		});
	}

	/**
	 * Extends the leases of those shares that there still are. Waits for rows that are
	 * locked: those of a busy key are hardly ever free.
	 * @return the outcomes in the order of the list
	 */
	public List<RenewalOutcome> renew(Connection connection, List<Renewal> renewals) throws SQLException {
		return inTransaction(connection, () -> {
			Set<String> locked = new HashSet<>(
					Sql.query(connection, in(LOCK_SHARED, renewals) + " ORDER BY lock_key FOR UPDATE",
							(row) -> this.dialect.key(row, 1), keys(renewals)));
			Map<Long, List<Renewal>> byLease = renewals.stream()
				.filter((renewal) -> locked.contains(renewal.key()))
				.collect(Collectors.groupingBy(Renewal::leaseMicros));
			for (Map.Entry<Long, List<Renewal>> same : byLease.entrySet()) {
				Sql.update(connection, any(EXTEND, same.getValue()), owners(same.getValue(), same.getKey()));
			}
			Set<String> held = new HashSet<>(
					Sql.query(connection, any(STILL_HELD, renewals), (row) -> row.getString(1), owners(renewals)));
			List<Renewal> renewed = byLease.values().stream().flatMap(Collection::stream).toList();
			if (!renewed.isEmpty()) {
				Sql.update(connection, in(FIT_ENDS, renewed), keys(renewed));
			}
			return renewals.stream()
				.map((renewal) -> !held.contains(renewal.owner()) ? RenewalOutcome.NOT_HELD
						: locked.contains(renewal.key()) ? RenewalOutcome.RENEWED : RenewalOutcome.UNKNOWN)
				.toList();
		});
	}

	private String in(String template, List<Renewal> renewals) {
		return this.dialect.sql(template) + String.join(", ", Collections.nCopies(renewals.size(), "?")) + ")";
	}

	private Object[] keys(List<Renewal> renewals) {
		return renewals.stream().map((renewal) -> this.dialect.stored(renewal.key())).toArray();
	}

	private String any(String template, List<Renewal> renewals) {
		String alias = template.equals(STILL_HELD) ? "s." : "";
		String share = "(" + alias + "lock_key = ? AND " + alias + "owner = ?)";
		return this.dialect.sql(template) + String.join(" OR ", Collections.nCopies(renewals.size(), share)) + ")";
	}

	private Object[] owners(List<Renewal> renewals, Object... before) {
		List<Object> arguments = new ArrayList<>(List.of(before));
		for (Renewal renewal : renewals) {
			arguments.add(this.dialect.stored(renewal.key()));
			arguments.add(renewal.owner());
		}
		return arguments.toArray();
	}

	/**
	 * Reads the first shares in the order of their keys and grants, as rows that each
	 * hold their key.
	 */
	public List<KeyedRow> read(Connection connection, String from, String to, int limit) throws SQLException {
		return Sql.query(connection, this.dialect.sql(READ),
				(row) -> new KeyedRow(this.dialect.key(row, Dialect.KEY_OF_HELD), LockRow.read(row)),
				this.dialect.stored(from), this.dialect.stored(to), limit);
	}

	/**
	 * Deletes shares that ended longer than the retention ago and that nobody has locked.
	 * @return how many shares were deleted
	 */
	public int sweep(Connection connection, int limit, long retentionMicros) throws SQLException {
		return inTransaction(connection, () -> {
			List<Object[]> ended = Sql.query(connection, this.dialect.sql(ENDED),
					(row) -> new Object[] { row.getObject(1), row.getString(2) }, retentionMicros, limit);
			Sql.batch(connection, this.dialect.sql(DELETE), ended);
			return ended.size();
		});
	}

	private @Nullable LockRow lock(Connection connection, String key) throws SQLException {
		List<LockRow> rows = Sql.query(connection, this.dialect.sql(LOCK), LockRow::read, this.dialect.stored(key));
		return rows.isEmpty() ? null : rows.get(0);
	}

	private Shares count(Connection connection, String key, String owner, LockRow row) throws SQLException {
		return Sql
			.query(connection, this.dialect.sql(COUNT),
					(shares) -> new Shares(shares.getLong(1), shares.getLong(2), shares.getLong(3), shares.getLong(4),
							shares.getLong(5)),
					row.nowMicros(), owner, owner, this.dialect.stored(key))
			.get(0);
	}

	private int update(Connection connection, String template, @Nullable Object... arguments) throws SQLException {
		return Sql.update(connection, this.dialect.sql(template), arguments);
	}

	private Object stored(RowAttempt attempt) {
		return this.dialect.stored(attempt.key());
	}

	private <T extends @Nullable Object> T inTransaction(Connection connection, Step<T> step) throws SQLException {
		RowLockStatements session = this.dialect.rowLocks();
		boolean kept = false;
		boolean committed = false;
		connection.setAutoCommit(false);
		try {
			session.keep(connection, LONGEST_PAUSE);
			kept = true;
			T result = step.run();
			connection.commit();
			committed = true;
			return result;
		}
		finally {
			if (!committed) {
				connection.rollback();
			}
			connection.setAutoCommit(true);
			if (kept) {
				session.restore(connection);
			}
		}
	}

	/** Step of shares within its transaction. */
	private interface Step<T extends @Nullable Object> {

		T run() throws SQLException;

	}

	/**
	 * Shares of a key.
	 *
	 * @param all how many there are, ended or not
	 * @param live how many have not ended
	 * @param lastEnd when the last one ends
	 * @param ownOrder the order of the share of one owner, 0 if there is none
	 * @param ownEnd when that one ends, 0 if there is none
	 */
	private record Shares(long all, long live, long lastEnd, long ownOrder, long ownEnd) {
	}

}
