package io.distributedlock.jdbc.rowlock;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.jdbc.dialect.Dialect;
import io.distributedlock.provider.CallWatchdog;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockThreads;
import io.distributedlock.provider.LockTimer;

/**
 * Rows that this process has locked, by the owners of their grants. What is sent on their
 * connections runs on workers, so that a connection that does not answer holds up no
 * other one, and no caller beyond its time-out. A row whose lease is over is unlocked
 * here, as a database does not know of leases. Safe for use by many threads.
 */
final class HeldRows implements AutoCloseable {

	/** Threads that end sessions without an answer, which the driver may do at once. */
	private static final int ABORTERS = 8;

	private static final Log logger = LogFactory.getLog(HeldRows.class);

	private final Map<String, HeldRow> rows = new ConcurrentHashMap<>();

	private final RowLockPool pool;

	private final Duration callTimeout;

	private final LockTimer timer;

	/**
	 * Has a thread for each row: a session that does not answer keeps its thread until
	 * the lease is over, and none may wait for that of another one.
	 */
	private final ExecutorService checkers;

	/** Has a thread for each row, as an end waits for a check under way. */
	private final ExecutorService enders;

	private final ExecutorService aborters = LockThreads.pool("jdbc-row-abort", ABORTERS);

	private final CallWatchdog watchdog;

	HeldRows(RowLockPool pool, Duration callTimeout, LockTimer timer) {
		this.pool = pool;
		this.callTimeout = callTimeout;
		this.timer = timer;
		this.checkers = LockThreads.pool("jdbc-row-check", pool.size());
		this.enders = LockThreads.pool("jdbc-row-end", pool.size());
		this.watchdog = new CallWatchdog(timer, this.aborters);
	}

	@Nullable HeldRow find(String owner) {
		return this.rows.get(owner);
	}

	/** Adds the row of a grant, and unlocks it when its time is over. */
	void add(HeldRow row, Dialect dialect) {
		this.rows.put(row.owner, row);
		watch(row, dialect);
	}

	private void watch(HeldRow row, Dialect dialect) {
		try {
			row.watchedBy(this.timer.schedule(() -> {
				if (row.until().isPast()) {
					end(row, dialect);
				}
				else {
					watch(row, dialect);
				}
			}, row.until().remaining()));
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The timer is closed: the server ends idle sessions", ex);
		}
	}

	/**
	 * Checks whether the session of a row lives, and lets the server end it once it was
	 * idle for a time. Joins a check that is under way, which cannot confirm the session:
	 * if it finds that alive, it was so at an earlier time than now.
	 */
	SessionCheck check(HeldRow row, Dialect dialect, Duration idle) {
		CompletableFuture<SessionState> begun = new CompletableFuture<>();
		CompletableFuture<SessionState> underWay = row.joinCheck(begun);
		if (underWay != null) {
			return new SessionCheck(underWay, true);
		}
		try {
			this.checkers.execute(() -> {
				SessionState state = SessionState.ENDED;
				try {
					state = state(row, dialect, idle);
				}
				finally {
					row.endCheck();
					begun.complete(state);
				}
			});
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			logger.debug("A session could not be checked", ex);
			row.endCheck();
		}
		return new SessionCheck(begun, false);
	}

	private SessionState state(HeldRow row, Dialect dialect, Duration idle) {
		row.use.lock();
		try {
			if (row.isEnding()) {
				return SessionState.ENDED;
			}
			send(row, dialect, row.until(), () -> dialect.rowLocks().keep(row.connection, idle));
			return SessionState.ALIVE;
		}
		catch (SQLException ex) {
			logger.debug("The session " + row.session + " that holds a row lock has ended", ex);
			return SessionState.ENDED;
		}
		finally {
			row.use.unlock();
		}
	}

	/**
	 * Unlocks a row. The connection returns to its pool without an open transaction, or
	 * is discarded, which ends the session and so unlocks the row too, as that of a
	 * session that has ended.
	 * @return completes when the connection is back or discarded
	 */
	CompletableFuture<Void> end(HeldRow row, Dialect dialect) {
		this.rows.remove(row.owner, row);
		if (row.claimEnd()) {
			Runnable end = () -> rollback(row, dialect);
			try {
				this.enders.execute(end);
			}
			catch (RejectedExecutionException ex) {
				// A lock ends after the provider was closed, too.
				LockThreads.factory("jdbc-row-end").newThread(end).start();
			}
			catch (OutOfMemoryError ex) {
				giveUp(row);
			}
		}
		return row.ended;
	}

	private void rollback(HeldRow row, Dialect dialect) {
		Deadline deadline = Deadline.after(this.callTimeout);
		boolean clean = false;
		// A check that is under way does not answer, if it takes longer than this.
		boolean used = deadline.awaitUninterruptibly((nanos) -> row.use.tryLock(nanos, TimeUnit.NANOSECONDS));
		try {
			if (used) {
				send(row, dialect, deadline, () -> dialect.rowLocks().end(row.connection));
				clean = true;
			}
		}
		catch (SQLException ex) {
			logger.debug("A row lock ends with its session " + row.session, ex);
		}
		finally {
			if (used) {
				row.use.unlock();
			}
			if (clean) {
				row.ended.complete(null);
				restore(row, dialect);
			}
			else {
				giveUp(row);
			}
		}
	}

	/** Restores the session for the next lock, when the present one is unlocked. */
	private void restore(HeldRow row, Dialect dialect) {
		boolean restored = false;
		try {
			send(row, dialect, Deadline.after(this.callTimeout), () -> dialect.rowLocks().restore(row.connection));
			restored = true;
		}
		catch (SQLException ex) {
			logger.debug("A session could not be restored", ex);
		}
		finally {
			if (restored) {
				this.pool.giveBack(row.connection);
			}
			else {
				giveUp(row);
			}
		}
	}

	private void giveUp(HeldRow row) {
		try {
			this.pool.discard(row.connection);
		}
		finally {
			row.ended.complete(null);
		}
	}

	/** Sends a statement that the watchdog ends by the end of the session. */
	private void send(HeldRow row, Dialect dialect, Deadline deadline, Statement statement) throws SQLException {
		Connection connection = row.connection;
		CallWatchdog.Call watched = this.watchdog.begin(deadline, false, () -> this.pool.abort(connection));
		boolean usable;
		try {
			long leftMillis = TimeUnit.NANOSECONDS.toMillis(deadline.remainingNanos());
			dialect.limitReads(connection, (int) Math.min(Math.max(leftMillis, 1), Integer.MAX_VALUE));
			statement.run();
		}
		finally {
			usable = watched.end();
		}
		if (!usable) {
			throw new SQLException("The session was ended, because it did not answer in time");
		}
	}

	/** Waits for an end, and returns whether it has come. */
	static boolean await(CompletableFuture<?> end, Deadline deadline) {
		return deadline.awaitUninterruptibly((nanos) -> await(end, nanos));
	}

	static boolean await(CompletableFuture<?> end, long nanos) throws InterruptedException {
		try {
			end.get(Math.max(nanos, 0), TimeUnit.NANOSECONDS);
			return true;
		}
		catch (TimeoutException ex) {
			return false;
		}
		catch (ExecutionException ex) {
			throw new IllegalStateException(ex.getCause());
		}
	}

	/**
	 * Starts nothing more. Rows stay locked until they are released, their leases are
	 * over, or the process ends.
	 */
	@Override
	public void close() {
		this.checkers.shutdown();
		this.enders.shutdown();
		this.aborters.shutdown();
	}

	/**
	 * Check of a session.
	 *
	 * @param answer completes with what is known, at the end of the row's time at the
	 * latest
	 * @param joined whether the check had begun before it was asked for
	 */
	record SessionCheck(CompletableFuture<SessionState> answer, boolean joined) {

		/**
		 * Returns what is known by a deadline. Does not wait for a joined check, as its
		 * answer can confirm nothing.
		 */
		SessionState state(Deadline deadline) {
			SessionState state = (this.joined || await(this.answer, deadline))
					? this.answer.getNow(SessionState.UNCLEAR) : SessionState.UNCLEAR;
			return (this.joined && state == SessionState.ALIVE) ? SessionState.UNCLEAR : state;
		}

	}

	/** Statement on the connection of a row. */
	@FunctionalInterface
	private interface Statement {

		void run() throws SQLException;

	}

}
