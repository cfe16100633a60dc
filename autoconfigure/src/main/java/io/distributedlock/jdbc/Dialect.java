package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.RenewalOutcome;

/**
 * The statements of one database, each a single round trip in autocommit mode that takes
 * all times from the database's clock.
 */
interface Dialect {

	/** Whether {@link Connection#abort} ends a running statement. */
	boolean abortable();

	/**
	 * For how long a released lock is kept for who has the place, in microseconds.
	 */
	default long grace() {
		return Claim.GRACE;
	}

	/** For how long a place in line counts without being refreshed, in microseconds. */
	default long place() {
		return Claim.PLACE;
	}

	/**
	 * Where the database tells of keys whose lock was passed on, or {@code null} if it
	 * cannot.
	 */
	default @Nullable String channel() {
		return null;
	}

	/** Ends what is then still running on the connection, should an abort get stuck. */
	default void limit(Connection connection, int millis) throws SQLException {
	}

	/** The script that creates the lock table. */
	String schema();

	/**
	 * Takes the row if it is takeable, else a place in line if one is open; always
	 * answers the row.
	 */
	LockRow attempt(Connection connection, Claim claim) throws SQLException;

	/** Reads the row without locking it. */
	@Nullable LockRow look(Connection connection, String key) throws SQLException;

	/**
	 * Frees the row if it has this owner, or reserves it for another process that has the
	 * place.
	 */
	boolean release(Connection connection, String key, String owner, String process) throws SQLException;

	/** Clears the places of the process. */
	boolean leave(Connection connection, String key, String process) throws SQLException;

	/**
	 * Clears the places of the process, and passes on a reservation made for it: in this
	 * order, so that none is made in between.
	 */
	default boolean withdraw(Connection connection, String key, String process) throws SQLException {
		boolean left = leave(connection, key, process);
		return release(connection, key, LockRow.RESERVED + process, process) || left;
	}

	/**
	 * Prolongs those rows that still have their owner and have not expired, in the order
	 * of the list.
	 */
	List<RenewalOutcome> renew(Connection connection, List<Renewal> renewals) throws SQLException;

	/** Reads one page of keys, in their order, and whether each row may be swept. */
	List<Candidate> candidates(Connection connection, String after, int limit, long retention) throws SQLException;

	/** Deletes those of the rows that may still be swept. */
	int sweep(Connection connection, List<String> keys, long retention) throws SQLException;

	/** Reads the format row through every column, and the clock. */
	Probe probe(Connection connection) throws SQLException;

	/** A grant to be renewed, with its lease in microseconds. */
	record Renewal(String key, String owner, long lease) {
	}

	/** A key seen by the sweeper. */
	record Candidate(String key, boolean sweepable) {
	}

	/**
	 * What the table says of itself: its format, and the clock in microseconds since
	 * 1970.
	 */
	record Probe(long format, long clock) {
	}

}
