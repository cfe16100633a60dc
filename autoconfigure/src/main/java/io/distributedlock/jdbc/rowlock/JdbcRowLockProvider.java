package io.distributedlock.jdbc.rowlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.JdbcLockProvider;
import io.distributedlock.jdbc.JdbcLockSettings;
import io.distributedlock.jdbc.LockTable;
import io.distributedlock.jdbc.TableLockProvider;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.jdbc.connection.SqlCallExecutor;
import io.distributedlock.jdbc.dialect.Dialect.Renewal;
import io.distributedlock.jdbc.dialect.LockRow;
import io.distributedlock.jdbc.rowlock.HeldRows.SessionCheck;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * Provider that locks a row of the lock table while a lock is held, on a connection of
 * its own, so that a lock ends with the process of its holder. The package description
 * has the recipe.
 * <p>
 * The order of a grant, its owner and its lease stand in another row, which processes
 * with the {@link JdbcLockProvider} respect and write too: both kinds exclude each other.
 * A database that cannot answer leads to a {@link LockProviderException}, never to a busy
 * lock. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class JdbcRowLockProvider extends TableLockProvider {

	/** The default for the largest number of row locks at a time. */
	public static final int DEFAULT_SIZE = 16;

	private static final Log logger = LogFactory.getLog(JdbcRowLockProvider.class);

	private final SqlCallExecutor rowCalls;

	private final RowLockPool pool;

	private final RowLocks locks;

	private final HeldRows heldRows;

	/**
	 * Creates a provider and starts its sweeper. Does not call the database yet.
	 * @param dataSource the source of connections for all other statements, closed with
	 * the provider
	 * @param rows the source of the connections that hold locks, a pool of its own to the
	 * same database and closed with the provider; its size is the largest number of locks
	 * at a time
	 * @param callTimeout the time-out by which the pool was created
	 * @param settings the settings
	 * @param timer the timer of the sweeper and of time-outs; must outlive the provider
	 * @throws LockConfigurationException if the connections that hold locks are not those
	 * of a pool of its own
	 */
	public JdbcRowLockProvider(LockDataSource dataSource, LockDataSource rows, Duration callTimeout,
			JdbcLockSettings settings, LockTimer timer) {
		super(dataSource, settings, timer);
		requireOwn(rows);
		this.pool = new RowLockPool(rows.connections());
		this.rowCalls = new SqlCallExecutor(this.pool, settings.table(), timer);
		this.locks = new RowLocks(this.pool, this.rowCalls, settings.table(), callTimeout);
		this.heldRows = new HeldRows(this.pool, callTimeout, timer);
		sweeper().start();
	}

	private static void requireOwn(LockDataSource rows) {
		if (!rows.connections().isOwn()) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					"The property distributed-lock.jdbc.strategy is row-lock, which needs a connection pool of its "
							+ "own, but the settings for one cannot be read from the DataSource",
					"Use a Hikari pool as the DataSource, or set distributed-lock.jdbc.strategy=lease");
		}
	}

	@Override
	public void checkServer(Duration timeout) {
		requireSuitable(table(), timeout);
	}

	/**
	 * Checks that the database, and what stands before it, can keep row locks.
	 * @throws LockConfigurationException if it cannot
	 * @throws LockProviderException if it could not answer
	 */
	static void requireSuitable(LockTable table, Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		if (!table.supportsRowLocks(timeout)) {
			throw new LockConfigurationException(LockError.STORE_UNSUITABLE,
					"The database cannot keep row locks, which only PostgreSQL, MySQL, MariaDB and H2 do",
					"Use distributed-lock.jdbc.strategy=lease");
		}
		if (table.isPooled(deadline.remaining())) {
			throw new LockConfigurationException(LockError.STORE_UNSUITABLE,
					"A connection pooler such as PgBouncer stands before the database, and a row lock would keep one "
							+ "of its connections to the server for as long as it is held",
					"Give the locks a direct connection by @DistributedLockDataSource, or use "
							+ "distributed-lock.jdbc.strategy=lease");
		}
		String setting = table.multiPrimary(deadline.remaining());
		if (setting != null) {
			throw new LockConfigurationException(LockError.STORE_UNSUITABLE,
					"The database has several servers that accept writes (" + setting
							+ "), and each of them locks rows for itself, so that two processes could hold a row lock",
					"Use distributed-lock.jdbc.strategy=lease, or a database with one primary");
		}
	}

	RowLockPool pool() {
		return this.pool;
	}

	HeldRows heldRows() {
		return this.heldRows;
	}

	@Override
	public LockContender newContender(LockKey key, Runnable onNotified) {
		return new RowLockContender(this.locks, this.heldRows, table(), tableCheck(), key, keys());
	}

	@Override
	public StoreCall<Map<LockGrant, RenewalOutcome>> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		return AnsweredStoreCall.by(() -> renewAll(leases, timeout));
	}

	/**
	 * Renews by one statement on the connection of each lock, which shows that its
	 * session lives and keeps the server from ending it, and one statement for the rows
	 * with the orders of all. A lock is renewed if both succeed; it is lost if either row
	 * or session is another's or has ended.
	 */
	private Map<LockGrant, RenewalOutcome> renewAll(Map<LockGrant, Duration> leases, Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		Map<LockGrant, RenewalOutcome> outcomes = new HashMap<>();
		List<Check> checks = new ArrayList<>(leases.size());
		leases.forEach((grant, lease) -> {
			HeldRow row = this.heldRows.find(LockRow.lockedBy(grant.owner()));
			if (row == null || !row.key.equals(keys().encode(grant.key()))) {
				outcomes.put(grant, RenewalOutcome.NOT_HELD);
			}
			else {
				checks.add(new Check(grant, row, lease, Deadline.after(lease),
						this.heldRows.check(row, this.locks.dialect(), lease)));
			}
		});
		if (!checks.isEmpty()) {
			List<RenewalOutcome> orders = renewOrders(checks, timeout, deadline);
			for (int i = 0; i < checks.size(); i++) {
				outcomes.put(checks.get(i).grant(), outcome(checks.get(i), orders.get(i), deadline));
			}
		}
		return outcomes;
	}

	/**
	 * Renews the rows with the orders. A session that has ended is a loss whether or not
	 * the database answers on other connections.
	 * @throws LockException if the database could not answer, and no session has ended
	 */
	private List<RenewalOutcome> renewOrders(List<Check> checks, Duration timeout, Deadline deadline) {
		try {
			return table().renew(checks.stream().map(Check::renewal).toList(), timeout);
		}
		catch (LockException ex) {
			if (checks.stream().noneMatch((check) -> check.session().state(deadline) == SessionState.ENDED)) {
				throw ex;
			}
			logger.debug("The orders of row locks could not be renewed, while a session has ended", ex);
			return Collections.nCopies(checks.size(), RenewalOutcome.UNKNOWN);
		}
	}

	private RenewalOutcome outcome(Check check, RenewalOutcome order, Deadline deadline) {
		if (order == RenewalOutcome.NOT_HELD) {
			this.heldRows.end(check.row(), this.locks.dialect());
			return RenewalOutcome.NOT_HELD;
		}
		SessionState session = check.session().state(deadline);
		if (session == SessionState.UNCLEAR) {
			return RenewalOutcome.UNKNOWN;
		}
		if (session == SessionState.ENDED) {
			this.heldRows.end(check.row(), this.locks.dialect());
			release(check.row(), deadline);
			return RenewalOutcome.NOT_HELD;
		}
		if (order == RenewalOutcome.RENEWED) {
			check.row().prolong(check.until());
		}
		return order;
	}

	/** Frees the lock for processes without row locks, and for people who look at it. */
	private void release(HeldRow row, Deadline deadline) {
		ReleaseOutcome outcome = table().release(row.key, row.owner, 0, deadline.remaining());
		logger.debug("The session " + row.session + " of a row lock has ended; its row: " + outcome);
	}

	/**
	 * Clears the owner first: nobody who locks the row after that can find it, and a
	 * release that comes too late changes nothing.
	 */
	@Override
	public ReleaseOutcome releaseOwn(LockKey key, OwnerId owner, Duration keepFor, Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		String ownerText = LockRow.lockedBy(owner);
		String storedKey = keys().encode(key);
		ReleaseOutcome outcome = table().release(storedKey, ownerText, 0, timeout);
		HeldRow row = this.heldRows.find(ownerText);
		if (row == null || !row.key.equals(storedKey)) {
			return outcome;
		}
		boolean unlocked = HeldRows.await(this.heldRows.end(row, this.locks.dialect()), deadline);
		return unlocked ? outcome : ReleaseOutcome.UNKNOWN;
	}

	@Override
	public String otherOwner(OwnerId owner) {
		return LockRow.heldBy(owner);
	}

	/**
	 * Stops the sweeper and closes the pools. Does not wait for calls under way. A lock
	 * that is still held keeps its connection until its lease is over.
	 */
	@Override
	public void close() {
		this.rowCalls.close();
		this.heldRows.close();
		this.pool.close();
		super.close();
	}

	/**
	 * Check of a row that is under way.
	 *
	 * @param grant the grant
	 * @param row its row
	 * @param lease the new lease
	 * @param until until when it lasts
	 * @param session the check of its session
	 */
	private record Check(LockGrant grant, HeldRow row, Duration lease, Deadline until, SessionCheck session) {

		private Renewal renewal() {
			return new Renewal(this.row.key, this.row.owner, TimeUnit.NANOSECONDS.toMicros(this.lease.toNanos()));
		}

	}

}
