package io.distributedlock.jdbc.dialect;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.RenewalOutcome;

/**
 * Statements of one kind of database. They run in autocommit mode and take all times from
 * the database's clock. Most steps are one statement; the package description has the
 * recipe.
 */
public interface Dialect {

	/** Validity of a wait-queue entry where contenders poll. */
	long POLLED_ENTRY_MICROS = 1_000_000;

	/** Length of a reservation where contenders poll: one poll bound. */
	long POLLED_RESERVATION_MICROS = 250_000;

	/** Whether {@link Connection#abort} ends a running statement. */
	boolean isAbortable();

	/** Whether an abort ends the call at once, whatever the server does. */
	default boolean abortsAtOnce() {
		return true;
	}

	/** Returns how long a released lock stays reserved for the first contender. */
	default long reservationMicros() {
		return POLLED_RESERVATION_MICROS;
	}

	/** Returns how long an entry of the wait queue is valid without being refreshed. */
	default long entryMicros() {
		return POLLED_ENTRY_MICROS;
	}

	/**
	 * Returns the channel on which the database notifies contenders of a release, or
	 * {@code null} if it has no notifications.
	 */
	default @Nullable String channel() {
		return null;
	}

	/** Whether a pooler stands between the driver and the server. */
	default boolean isPooled(Connection connection) throws SQLException {
		return false;
	}

	/**
	 * Returns by what means several servers of the database accept writes at once, so
	 * that a row may be locked on each of them, or {@code null} if one does.
	 */
	default @Nullable String multiPrimary(Connection connection) throws SQLException {
		return null;
	}

	/**
	 * Bounds a read from the connection in milliseconds, where an abort can block.
	 */
	default void limitReads(Connection connection, int millis) throws SQLException {
	}

	/** Returns the bound of reads that {@link #limitReads} changes, 0 for none. */
	default int readLimit(Connection connection) throws SQLException {
		return 0;
	}

	/**
	 * Returns the statements that set up a session of the locks' own pool, by which the
	 * server bounds how late a command can take effect. Each is a round trip.
	 * @param callTimeout how long a statement may take; the wait for a row's lock may
	 * take half of it
	 */
	List<String> sessionSettings(Duration callTimeout);

	/** Prepares a new connection of the locks' own pool. */
	default void prepareSession(Connection connection, Duration callTimeout) throws SQLException {
		connection.setTransactionIsolation(ConnectionSettings.REQUIRED.isolation());
		for (String setting : sessionSettings(callTimeout)) {
			Sql.execute(connection, setting);
		}
	}

	/** Returns the script that creates the lock table. */
	String schema();

	/**
	 * Acquires the row if the process may have it, else enters the wait queue if the
	 * attempt waits and an entry is open to it. Always returns the row.
	 */
	LockRow attempt(Connection connection, RowAttempt attempt) throws SQLException;

	/**
	 * Reads the first rows of held or kept locks in the order of their keys.
	 * @param from the least key, and the beginning of all of them
	 * @param to the key that follows all of them
	 */
	List<KeyedRow> readHeld(Connection connection, String from, String to, int limit) throws SQLException;

	/** Reads the row without locking it. */
	@Nullable LockRow read(Connection connection, String key) throws SQLException;

	/**
	 * Releases the row if it has this owner, and reserves it for the first contender of
	 * another process.
	 * @return whether the row had this owner
	 */
	boolean release(Connection connection, String key, String owner, String process) throws SQLException;

	/**
	 * Releases the row if it has this owner, and lets nobody acquire it for a time. The
	 * wait queue remains as it is.
	 * @param keepMicros the time from now on
	 * @return whether the row had this owner
	 */
	boolean keep(Connection connection, String key, String owner, long keepMicros) throws SQLException;

	/**
	 * Removes the wait-queue entries of the process.
	 * @return whether there was one
	 */
	boolean removeEntries(Connection connection, String key, String process) throws SQLException;

	/**
	 * Removes the wait-queue entries of the process, then releases a reservation made for
	 * it. In this order no reservation can be made in between.
	 * @return whether there was an entry or a reservation
	 */
	default boolean withdraw(Connection connection, String key, String process) throws SQLException {
		boolean removed = removeEntries(connection, key, process);
		return release(connection, key, LockRow.RESERVED + process, process) || removed;
	}

	/**
	 * Extends the leases of those rows that still have their owner and have not expired.
	 * @return the outcomes in the order of the list
	 */
	List<RenewalOutcome> renew(Connection connection, List<Renewal> renewals) throws SQLException;

	/**
	 * Reads one page of keys in their order, and whether each row may be deleted.
	 * @param after the last key of the page before, or an empty text
	 */
	List<SweepCandidate> readSweepCandidates(Connection connection, String after, int limit, long retentionMicros)
			throws SQLException;

	/**
	 * Deletes those of the rows that may still be deleted.
	 * @return how many rows were deleted
	 */
	int sweep(Connection connection, List<String> keys, long retentionMicros) throws SQLException;

	/** Returns the statements of row locks. */
	RowLockStatements rowLocks();

	/**
	 * Reads the format row, naming every column, and the clock.
	 */
	TableStatus readStatus(Connection connection) throws SQLException;

	/**
	 * Reads what is wrong with the table's columns, and whether its keys are exact and
	 * unique. Changes nothing.
	 */
	TableShape readShape(Connection connection) throws SQLException;

	/**
	 * Executes an update and an insert that match no row, so that a missing right or a
	 * read-only server fails.
	 */
	void checkWritable(Connection connection) throws SQLException;

	/**
	 * Row of a lock that is held or kept.
	 *
	 * @param key the text of the key column
	 * @param row the row
	 */
	record KeyedRow(String key, LockRow row) {
	}

	/**
	 * Lease to be extended.
	 *
	 * @param key the text of the key column
	 * @param owner the owner id of the grant
	 * @param leaseMicros the new lease in microseconds from now
	 */
	public record Renewal(String key, String owner, long leaseMicros) {
	}

	/**
	 * Row that the sweeper has read.
	 *
	 * @param key the text of the key column
	 * @param deletable whether the row may be deleted
	 */
	public record SweepCandidate(String key, boolean deletable) {
	}

	/**
	 * Format of the lock table, and the clock of its database.
	 *
	 * @param format the format number, 0 if the table has no format row
	 * @param clockMicros the clock in microseconds since 1970
	 */
	public record TableStatus(long format, long clockMicros) {
	}

	/**
	 * Columns of the lock table as they were created.
	 *
	 * @param unsuitable the columns that cannot hold their values, each with what it has
	 * and what it needs
	 * @param exact whether different keys never count as equal
	 * @param unique whether the table refuses a second row with a key
	 */
	public record TableShape(List<String> unsuitable, boolean exact, boolean unique) {
	}

}
