package io.distributedlock.jdbc.rowlock;

import java.time.Duration;
import java.util.Map;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.JdbcLockProvider;
import io.distributedlock.jdbc.JdbcLockSettings;
import io.distributedlock.jdbc.LockTable;
import io.distributedlock.jdbc.TableLockProvider;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.jdbc.connection.SqlCallExecutor;
import io.distributedlock.jdbc.dialect.LockRow;
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

	private final SqlCallExecutor rowCalls;

	private final RowLockPool pool;

	private final RowLocks locks;

	private final HeldRows heldRows;

	private final RowLockRenewal renewal;

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
		this.pool = new RowLockPool(rows);
		this.rowCalls = new SqlCallExecutor(this.pool, settings.table(), timer);
		this.locks = new RowLocks(this.pool, this.rowCalls, settings.table(), callTimeout);
		this.heldRows = new HeldRows(this.pool, callTimeout, timer);
		this.renewal = new RowLockRenewal(this.heldRows, this.locks, table());
		sweeper().start();
	}

	private static void requireOwn(LockDataSource rows) {
		if (!rows.isOwn()) {
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
		refusePooler(table, timeout);
		refuseMultiPrimary(table, deadline.remaining());
	}

	/**
	 * A pooler bounds transactions, and gives each lock one of few server connections.
	 */
	private static void refusePooler(LockTable table, Duration timeout) {
		if (table.isPooled(timeout)) {
			throw new LockConfigurationException(LockError.STORE_UNSUITABLE,
					"A connection pooler such as PgBouncer stands before the database, and a row lock would keep one "
							+ "of its connections to the server for as long as it is held",
					"Give the locks a direct connection by @DistributedLockDataSource, or use "
							+ "distributed-lock.jdbc.strategy=lease");
		}
	}

	/** Two processes would both hold a lock, each on a server of its own. */
	private static void refuseMultiPrimary(LockTable table, Duration timeout) {
		String setting = table.multiPrimary(timeout);
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
		return AnsweredStoreCall.by(() -> this.renewal.renew(leases, timeout, keys()));
	}

	/**
	 * Clears the owner first: nobody who locks the row after that can find it, and a
	 * release that comes too late changes nothing.
	 */
	@Override
	public ReleaseOutcome releaseOwn(LockKey key, OwnerId owner, Duration keepFor, Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		String ownerText = LockRow.ROW + owner.text();
		String storedKey = keys().encode(key);
		ReleaseOutcome outcome = table().release(storedKey, ownerText, 0, timeout);
		HeldRow row = this.heldRows.find(ownerText);
		if (row == null || !row.key().equals(storedKey)) {
			return outcome;
		}
		boolean unlocked = HeldRows.await(this.heldRows.end(row, this.locks.dialect()), deadline);
		return unlocked ? outcome : ReleaseOutcome.UNKNOWN;
	}

	@Override
	public String otherOwner(OwnerId owner) {
		return owner.text();
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

}
