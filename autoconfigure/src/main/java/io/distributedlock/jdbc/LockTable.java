package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.connection.SqlCall;
import io.distributedlock.jdbc.connection.SqlCall.Compensation;
import io.distributedlock.jdbc.connection.SqlCallExecutor;
import io.distributedlock.jdbc.dialect.Dialect;
import io.distributedlock.jdbc.dialect.Dialect.Renewal;
import io.distributedlock.jdbc.dialect.Dialect.TableStatus;
import io.distributedlock.jdbc.dialect.LockRow;
import io.distributedlock.jdbc.dialect.RowAttempt;
import io.distributedlock.jdbc.dialect.ShareStatements;
import io.distributedlock.jdbc.dialect.SqlErrors;
import io.distributedlock.jdbc.dialect.TableShape;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ProcessLabel;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;

/**
 * Lock table as this process uses it: each step within its time-out, with SQL errors as
 * outcomes or exceptions of a provider. Safe for use by many threads.
 */
public final class LockTable {

	private static final Log logger = LogFactory.getLog(LockTable.class);

	private static final int BUSY_KEYS = 256;

	private static final Duration BUSY = Duration.ofSeconds(1);

	private final SqlCallExecutor calls;

	private final String name;

	/**
	 * Until when a key that was found busy is expected to be so, by its hash. Of two keys
	 * with one hash the other one costs a longer statement, or a read, and nothing else.
	 */
	private final AtomicReferenceArray<@Nullable Deadline> busyUntil = new AtomicReferenceArray<>(BUSY_KEYS);

	private final boolean untestedDialects;

	private final AtomicBoolean warned = new AtomicBoolean();

	private final String process = OwnerId.random().text();

	private final String holder = ProcessLabel.get();

	LockTable(SqlCallExecutor calls, JdbcLockSettings settings) {
		this.calls = calls;
		this.name = settings.table();
		this.untestedDialects = settings.untestedDialects();
	}

	/** Returns the id by which this process enters wait queues. */
	public String process() {
		return this.process;
	}

	/** Returns the label of this process for people. */
	public String holder() {
		return this.holder;
	}

	/** Returns the length of a reservation. */
	long reservationMicros() {
		Dialect dialect = this.calls.knownDialect();
		return (dialect != null) ? dialect.reservationMicros() : Dialect.POLLED_RESERVATION_MICROS;
	}

	/** Whether a key was busy in the last second, and so probably still is. */
	boolean isLikelyBusy(String key) {
		Deadline until = this.busyUntil.get(indexOf(key));
		return until != null && !until.isPast();
	}

	private static int indexOf(String key) {
		return Math.floorMod(key.hashCode(), BUSY_KEYS);
	}

	/**
	 * Attempts to acquire a row.
	 * @return the row after the attempt, or {@code null} if another statement changed it
	 * at the same time
	 * @throws LockProviderException if the database could not answer
	 */
	public @Nullable LockRow attempt(RowAttempt attempt, Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		return attempt(attempt, timeout, (connection, dialect) -> write(connection, dialect, attempt, deadline));
	}

	/**
	 * Polls a row, and attempts to acquire it only if that would change the row and no
	 * contender that was refused earlier has its turn: a write locks the row and so
	 * delays the holder's release.
	 * @return the row after the poll, or {@code null} if another statement changed it at
	 * the same time
	 * @throws LockProviderException if the database could not answer
	 */
	@Nullable LockRow poll(RowAttempt attempt, Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		return attempt(attempt, timeout, (connection, dialect) -> {
			LockRow row = read(connection, dialect, attempt.key());
			return (row == null
					|| (row.isChangedBy(attempt, dialect.entryMicros())
							&& PollBackOff.untilTurnMicros(row, attempt, dialect.reservationMicros()) <= 0)
					|| (attempt.isShare() && new ShareStatements(dialect).isOpen(connection, attempt, row)))
							? write(connection, dialect, attempt, deadline) : row;
		});
	}

	private @Nullable LockRow attempt(RowAttempt attempt, Duration timeout, SqlCall<LockRow> step) {
		SqlCall<LockRow> call = (connection, dialect) -> {
			if (attempt.isShare() && !dialect.supportsRowLocks()) {
				throw new LockConfigurationException(LockError.MODE_UNSUPPORTED,
						"Lock '" + attempt.key() + "' was requested in a mode that this database does not have",
						"Request the lock exclusively, or keep it in a store that has it (docs/choosing-a-store.md)");
			}
			return step.run(connection, dialect);
		};
		Compensation<LockRow> compensation = (connection, dialect, row) -> {
			if (row.isHeldBy(attempt.owner())) {
				release(connection, dialect, attempt.key(), attempt.owner(), attempt.process());
			}
			else if (attempt.willWait() && row.isQueued(attempt.process())) {
				// Nobody may be left to withdraw. Another contender enters again.
				dialect.withdraw(connection, attempt.key(), attempt.process());
			}
		};
		try {
			LockRow row = (attempt.sinceMicros() != null) ? this.calls.poll(timeout, call, compensation)
					: this.calls.execute(CallKind.ACQUIRE, timeout, call, compensation);
			if (row == null || !row.isHeldBy(attempt.owner())) {
				this.busyUntil.set(indexOf(attempt.key()), Deadline.after(BUSY));
			}
			return row;
		}
		catch (SQLException ex) {
			if (SqlErrors.isContention(ex)) {
				return null;
			}
			throw translate(ex);
		}
	}

	/**
	 * Repeats an attempt that failed with a duplicate key: two first inserts of one key
	 * can collide in H2. A row that is locked although the lock is free is no contention:
	 * another transaction has locked it.
	 */
	private LockRow write(Connection connection, Dialect dialect, RowAttempt attempt, Deadline deadline)
			throws SQLException {
		boolean expectsFree = attempt.sinceMicros() == null && !isLikelyBusy(attempt.key());
		while (true) {
			try {
				return attempt.isShare() ? new ShareStatements(dialect).attempt(connection, attempt)
						: dialect.attempt(connection, attempt, expectsFree);
			}
			catch (SQLException ex) {
				if (SqlErrors.isRowLocked(ex)) {
					LockRow row = read(connection, dialect, attempt.key());
					if (row != null && !row.isAcquirableBy(attempt.process())) {
						return row;
					}
					throw new SQLTimeoutException("the row of a free lock is locked by another transaction", ex);
				}
				if (!SqlErrors.isDuplicateKey(ex) || deadline.isPast()) {
					throw ex;
				}
			}
		}
	}

	/**
	 * Reads a row. A read waits for no other attempt: what it waits for has locked the
	 * table, and says nothing about the lock.
	 */
	private static @Nullable LockRow read(Connection connection, Dialect dialect, String key) throws SQLException {
		try {
			return dialect.read(connection, key);
		}
		catch (SQLException ex) {
			throw SqlErrors.isRowLocked(ex)
					? new SQLTimeoutException("the lock table is locked by another transaction", ex) : ex;
		}
	}

	/**
	 * Reads a row without locking it.
	 * @throws LockProviderException if the database could not answer
	 */
	public @Nullable LockRow read(String key, Duration timeout) {
		return this.<@Nullable LockRow>call(timeout, (connection, dialect) -> dialect.read(connection, key));
	}

	/** Executes a call whose failures are those of a provider. */
	<T extends @Nullable Object> T call(Duration timeout, SqlCall<T> call) {
		try {
			return this.calls.execute(CallKind.ACQUIRE, timeout, call);
		}
		catch (SQLException ex) {
			throw translate(ex);
		}
	}

	/**
	 * Releases a row if it has this owner, or a share of it.
	 * @param keepMicros for how long nobody may acquire it after that; 0 for a share
	 */
	public ReleaseOutcome release(String key, String owner, long keepMicros, Duration timeout) {
		return release("release", timeout,
				(connection, dialect) -> (keepMicros > 0) ? dialect.keep(connection, key, owner, keepMicros)
						: release(connection, dialect, key, owner, this.process));
	}

	private static boolean release(Connection connection, Dialect dialect, String key, String owner, String process)
			throws SQLException {
		return LockRow.isShare(owner) ? new ShareStatements(dialect).release(connection, key, owner)
				: dialect.release(connection, key, owner, process);
	}

	/** Removes the wait-queue entries of a contender, and a reservation made for it. */
	ReleaseOutcome withdraw(String key, String contender, Duration timeout) {
		return release("withdrawal", timeout, (connection, dialect) -> dialect.withdraw(connection, key, contender));
	}

	private ReleaseOutcome release(String step, Duration timeout, SqlCall<Boolean> call) {
		try {
			return repeat(CallKind.RELEASE, timeout, call) ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD;
		}
		catch (SQLException | LockException ex) {
			logger.debug("The outcome of a " + step + " is unknown", ex);
			return ReleaseOutcome.UNKNOWN;
		}
	}

	/**
	 * Renews leases in one batch.
	 * @param renewals either all of shares, or none
	 * @return the outcomes in the order of the list
	 * @throws LockProviderException if the database could not answer
	 */
	public List<RenewalOutcome> renew(List<Renewal> renewals, Duration timeout) {
		try {
			boolean shares = LockRow.isShare(renewals.get(0).owner());
			return repeat(CallKind.RENEWAL, timeout, (connection, dialect) -> shares
					? new ShareStatements(dialect).renew(connection, renewals) : dialect.renew(connection, renewals));
		}
		catch (SQLException ex) {
			throw translate(ex);
		}
	}

	/**
	 * Reads the format of the table and the database's clock.
	 * @throws LockConfigurationException if the table or a column is missing, its name is
	 * a reserved word, or the statements were never run on the database
	 * @throws LockProviderException if the database could not answer
	 */
	TableStatus readStatus(Duration timeout) {
		try {
			return this.calls.execute(CallKind.ACQUIRE, timeout, (connection, dialect) -> {
				requireTested(dialect.untested());
				return dialect.readStatus(connection);
			});
		}
		catch (SQLException ex) {
			if (SqlErrors.classify(ex) == LockError.TABLE_MISSING) {
				throw tableMissing(ex);
			}
			TableName.requireUnreserved(JdbcLockSettings.TABLE_PROPERTY, this.name, ex);
			throw translate(ex);
		}
	}

	/** Refuses an untested database, unless the application accepts it. */
	private void requireTested(@Nullable String untested) {
		if (untested == null) {
			return;
		}
		if (!this.untestedDialects) {
			throw new LockConfigurationException(LockError.NO_PROVIDER,
					"The database is " + untested + ", on which the statements of the locks were never run",
					"Use PostgreSQL, MySQL, MariaDB, H2, HSQLDB or Derby, or try it with "
							+ "distributed-lock.jdbc.untested-dialects=true");
		}
		if (this.warned.compareAndSet(false, true)) {
			logger.warn("Locks are in a database (" + untested + ") on which their statements were never run before "
					+ "(distributed-lock.jdbc.untested-dialects=true). Test them before you rely on them");
		}
	}

	/**
	 * Checks that the table is as its script creates it. Changes nothing.
	 * @throws LockConfigurationException if the table is not as it must be
	 * @throws LockProviderException if the database could not answer, or does not write
	 */
	void requireSuitable(Duration timeout) {
		TableShape shape = check(timeout, TableShape::read);
		if (!shape.unsuitable().isEmpty()) {
			throw unsuitable("has columns of another length or type: " + String.join(", ", shape.unsuitable()));
		}
		if (!shape.unique()) {
			throw unsuitable("has no primary key on lock_key, so that several processes could hold a lock");
		}
		if (!shape.exact()) {
			throw unsuitable("takes different keys for the same one, because of the type or the collation of its "
					+ "column lock_key");
		}
	}

	/**
	 * Checks that this process may write the table. Changes nothing.
	 * @throws LockConfigurationException if a right is missing
	 * @throws LockProviderException if the database could not answer, or does not write
	 */
	void requireWritable(Duration timeout) {
		check(timeout, (connection, dialect) -> {
			dialect.checkWritable(connection);
			return true;
		});
	}

	private <T> T check(Duration timeout, SqlCall<T> call) {
		try {
			return repeat(CallKind.ACQUIRE, timeout, call);
		}
		catch (SQLException ex) {
			throw refused(ex);
		}
	}

	/**
	 * Repeats a call that collided with one of another process, as with SERIALIZABLE
	 * behind a pooler. A release that has waited for a locked row has had its time.
	 */
	private <T> T repeat(CallKind kind, Duration timeout, SqlCall<T> call) throws SQLException {
		Deadline deadline = Deadline.after(timeout);
		while (true) {
			try {
				return this.calls.execute(kind, deadline.remaining(), call);
			}
			catch (SQLException ex) {
				boolean waited = kind != CallKind.ACQUIRE && SqlErrors.isRowLocked(ex);
				if (!SqlErrors.isContention(ex) || waited || deadline.isPast()) {
					throw ex;
				}
			}
		}
	}

	private LockException refused(SQLException ex) {
		LockProviderException failure = translate(ex);
		return switch (failure.error()) {
			case NOT_PERMITTED -> new LockConfigurationException(
					LockError.NOT_PERMITTED, "The user of the locks' connections may not read and write the table '"
							+ this.name + "': " + ex.getMessage(),
					"Grant it SELECT, INSERT, UPDATE and DELETE on the table", ex);
			case STORE_UNSUITABLE -> new LockConfigurationException(LockError.STORE_UNSUITABLE,
					"The database runs with binlog_format=STATEMENT, which allows no writes at READ COMMITTED",
					"Set binlog_format=ROW or MIXED in the server", ex);
			default -> failure;
		};
	}

	LockConfigurationException unsuitable(String problem) {
		Dialect dialect = Objects.requireNonNull(this.calls.knownDialect());
		return new LockConfigurationException(LockError.TABLE_UNSUITABLE,
				"The lock table '" + this.name + "' " + problem,
				"Stop the applications, drop the table, and create it again with:\n\n" + dialect.schema());
	}

	/**
	 * Whether a pooler stands before the database.
	 * @throws LockProviderException if the database could not answer
	 */
	public boolean isPooled(Duration timeout) {
		return call(timeout, (connection, dialect) -> dialect.isPooled(connection));
	}

	/**
	 * Whether the database can keep row locks.
	 * @throws LockProviderException if the database could not answer
	 */
	public boolean supportsRowLocks(Duration timeout) {
		return call(timeout, (connection, dialect) -> dialect.supportsRowLocks());
	}

	/**
	 * Returns by what means several servers accept writes at once, or {@code null}.
	 * @throws LockProviderException if the database could not answer
	 */
	public @Nullable String multiPrimary(Duration timeout) {
		return this.<@Nullable String>call(timeout, (connection, dialect) -> dialect.multiPrimary(connection));
	}

	private LockConfigurationException tableMissing(SQLException cause) {
		Dialect dialect = this.calls.knownDialect();
		return new LockConfigurationException(LockError.TABLE_MISSING,
				"The lock table '" + this.name + "', one of its columns, or the table '" + this.name
						+ "_share' is missing: " + cause.getMessage(),
				"Create what is missing, or set distributed-lock.jdbc.initialize-schema=always"
						+ ((dialect != null) ? ":\n\n" + dialect.schema() : ""),
				cause);
	}

	private LockProviderException translate(SQLException ex) {
		return SqlErrors.translate(ex, this.name, this.calls.knownDialect());
	}

}
