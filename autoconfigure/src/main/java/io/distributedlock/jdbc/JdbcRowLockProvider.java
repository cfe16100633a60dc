package io.distributedlock.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockInspector;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.provider.StoredLock;

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
public final class JdbcRowLockProvider implements LockProvider, LockInspector, AutoCloseable {

	/** The default for the largest number of row locks at a time. */
	public static final int DEFAULT_SIZE = 16;

	private final LockDataSource dataSource;

	private final LockKeyEncoder keys;

	private final SqlCallExecutor calls;

	private final SqlCallExecutor rowCalls;

	private final LockTable table;

	private final TableCheck tableCheck;

	private final LockRowInspector inspector;

	private final Sweeper sweeper;

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
		requireOwn(rows);
		this.dataSource = dataSource;
		this.keys = new LockKeyEncoder(settings.keyPrefix());
		this.calls = new SqlCallExecutor(dataSource.connections(), settings.table(), timer);
		this.table = new LockTable(this.calls, settings.table());
		this.tableCheck = new TableCheck(this.table, settings.table(), new RowLockServerCheck(this.table)::run);
		this.inspector = new LockRowInspector(this.calls, settings.table(), this.keys);
		this.pool = new RowLockPool(rows.connections());
		this.rowCalls = new SqlCallExecutor(this.pool, settings.table(), timer);
		this.locks = new RowLocks(this.pool, this.rowCalls, settings.table(), callTimeout);
		this.heldRows = new HeldRows(this.pool, callTimeout, timer);
		this.renewal = new RowLockRenewal(this.heldRows, this.locks, this.table);
		this.sweeper = new Sweeper(this.calls, settings.retention(), timer, this.table.process(), this.table.holder());
		this.sweeper.start();
	}

	private static void requireOwn(LockDataSource rows) {
		if (!rows.connections().isOwn()) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					"The property distributed-lock.jdbc.strategy is row-lock, which needs a connection pool of its "
							+ "own, but the settings for one cannot be read from the DataSource",
					"Use a Hikari pool as the DataSource, or the strategy lease");
		}
	}

	@Override
	public String name() {
		return SqlErrors.PROVIDER;
	}

	@Override
	public boolean isBlocking() {
		return true;
	}

	String process() {
		return this.table.process();
	}

	Sweeper sweeper() {
		return this.sweeper;
	}

	RowLockPool pool() {
		return this.pool;
	}

	HeldRows heldRows() {
		return this.heldRows;
	}

	@Override
	public LockContender newContender(LockKey key, Runnable onNotified) {
		return new RowLockContender(this.locks, this.heldRows, this.table, this.tableCheck, key, this.keys);
	}

	@Override
	public StoreCall<Map<LockGrant, RenewalOutcome>> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		return AnsweredStoreCall.by(() -> this.renewal.renew(leases, timeout, this.keys));
	}

	@Override
	public StoreCall<ReleaseOutcome> release(LockKey key, OwnerId owner, Duration keepFor, Duration timeout) {
		return AnsweredStoreCall.by(() -> releaseNow(key, owner, timeout));
	}

	/**
	 * Clears the owner first: nobody who locks the row after that can find it, and a
	 * release that comes too late changes nothing.
	 */
	private ReleaseOutcome releaseNow(LockKey key, OwnerId owner, Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		String ownerText = LockRow.ROW + owner.text();
		String storedKey = this.keys.encode(key);
		ReleaseOutcome outcome = this.table.release(storedKey, ownerText, 0, timeout);
		HeldRow row = this.heldRows.find(ownerText);
		if (row == null || !row.key().equals(storedKey)) {
			return outcome;
		}
		boolean unlocked = HeldRows.await(this.heldRows.end(row, this.locks.dialect()), deadline);
		return unlocked ? outcome : ReleaseOutcome.UNKNOWN;
	}

	/**
	 * Checks the database, and until that has succeeded once also the table and the
	 * rights.
	 */
	@Override
	public void check(Duration timeout) {
		this.tableCheck.run(timeout);
	}

	/**
	 * Checks that the database answers, and would accept writes to the table, by
	 * statements that match no row.
	 */
	@Override
	public void probe(Duration timeout) {
		this.tableCheck.probe(timeout);
	}

	@Override
	public Optional<StoredLock> find(LockKey key, Duration timeout) {
		return this.inspector.find(key, timeout);
	}

	/**
	 * Lists the locks with this key prefix. One whose holder has died is listed until its
	 * lease would have ended.
	 */
	@Override
	public Optional<List<StoredLock>> list(int limit, Duration timeout) {
		return Optional.of(this.inspector.list(limit, timeout));
	}

	/**
	 * Clears the owner of a lock, or of a lease of another process. Its holder learns of
	 * it with its next renewal, and unlocks the row then.
	 */
	@Override
	public ReleaseOutcome forceRelease(LockKey key, StoredLock lock, Duration timeout) {
		if (lock.owner() == null) {
			return ReleaseOutcome.NOT_HELD;
		}
		Deadline deadline = Deadline.after(timeout);
		ReleaseOutcome outcome = releaseNow(key, lock.owner(), timeout);
		return (outcome != ReleaseOutcome.NOT_HELD) ? outcome
				: this.table.release(this.keys.encode(key), lock.owner().text(), 0, deadline.remaining());
	}

	/**
	 * Stops the sweeper and closes the pools. Does not wait for calls under way. A lock
	 * that is still held keeps its connection until its lease is over.
	 */
	@Override
	public void close() {
		this.sweeper.stop();
		this.calls.close();
		this.rowCalls.close();
		this.heldRows.close();
		this.pool.close();
		this.dataSource.close();
	}

}
