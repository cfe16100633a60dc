package io.distributedlock.fencing;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArraySet;

import javax.sql.DataSource;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;

/**
 * The fences of all transactions. In its own transaction a holder moves the fence of each
 * key that it holds up to its token, and has the row until the transaction ends. So the
 * transaction of a holder whose lock has passed to another either ends before that one's
 * goes on, which then reads what it wrote, or is refused. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class FencedTransactions implements AutoCloseable {

	private final FenceKeyEncoder keys;

	private final FenceDialects dialects;

	private final FenceTableCheck tableCheck;

	private final int timeoutSeconds;

	private final FenceSweeper sweeper;

	private final Collection<DataSource> checked = new CopyOnWriteArraySet<>();

	/** The running transactions that each thread has begun, suspended ones too. */
	@SuppressWarnings("ThreadLocalUsage") // Each application has fences of its own.
	private final ThreadLocal<List<FencedTransaction>> running = new ThreadLocal<>();

	/** What was bound to a thread before a transaction begins, from then until it has. */
	@SuppressWarnings("ThreadLocalUsage")
	private final ThreadLocal<Collection<ConnectionHolder>> boundBefore = new ThreadLocal<>();

	/**
	 * Creates the fences.
	 * @param settings their settings
	 * @param sweeper the sweeper of old ones, which is closed with them
	 */
	public FencedTransactions(FenceSettings settings, FenceSweeper sweeper) {
		this.keys = new FenceKeyEncoder(settings.prefix());
		this.dialects = new FenceDialects(settings.table());
		this.tableCheck = new FenceTableCheck(this.dialects, settings.startTimeout());
		this.timeoutSeconds = settings.timeoutSeconds();
		this.sweeper = sweeper;
	}

	/**
	 * Checks that a database has the table. One that does not answer in time is reported.
	 * @param dataSource the database
	 * @param name the name of the database for messages
	 * @throws LockConfigurationException if the table is missing, or the database is not
	 * supported
	 */
	void check(DataSource dataSource, String name) {
		if (!this.checked.add(dataSource)) {
			return;
		}
		this.tableCheck.run(dataSource, name);
		this.sweeper.add(dataSource);
	}

	/** Called before a transaction that may write begins on this thread. */
	void beforeBegin() {
		LockContext.ensureNoneLost();
		this.boundBefore.set(bound().values());
	}

	/** Called when a transaction has not begun after all. */
	void beginFailed() {
		this.boundBefore.remove();
	}

	/**
	 * Called when a transaction has begun, before its first statement, or a savepoint was
	 * created, which is in the fenced transaction.
	 * @param database whether it must have a connection of a database
	 */
	void afterBegin(TransactionExecution execution, boolean database) {
		Collection<ConnectionHolder> before = this.boundBefore.get();
		this.boundBefore.remove();
		if (!execution.isNewTransaction()) {
			return;
		}
		SortedSet<HeldKey> held = held(LockContext.findAll());
		boolean found = false;
		for (Map.Entry<DataSource, ConnectionHolder> entry : bound().entrySet()) {
			if (before == null || before.stream().noneMatch((holder) -> holder == entry.getValue())) {
				found = true;
				begin(open(execution, entry.getKey(), entry.getValue()), new TreeSet<>(held));
			}
		}
		if (!found && database && !held.isEmpty()) {
			throw new LockConfigurationException(LockError.FENCE_UNSUPPORTED,
					"The transaction under lock '" + held.first().key()
							+ "' has no JDBC connection that is bound to its thread, so that it cannot be fenced",
					"Use a JpaDialect that exposes the connection, such as HibernateJpaDialect");
		}
	}

	private FencedTransaction open(TransactionExecution execution, DataSource dataSource, ConnectionHolder holder) {
		FenceDialect dialect;
		try {
			dialect = this.dialects.of(dataSource, holder.getConnection());
		}
		catch (SQLException ex) {
			throw new DataAccessResourceFailureException(
					"The database did not tell its product and version, so that the transaction was not fenced", ex);
		}
		return new FencedTransaction(execution, dataSource, holder, dialect, this.timeoutSeconds);
	}

	private void begin(FencedTransaction transaction, SortedSet<HeldKey> held) {
		List<FencedTransaction> others = running();
		// The row of a suspended transaction would never be free.
		held.removeIf((key) -> others.stream().anyMatch((other) -> other.keeps(key, transaction)));
		others.add(transaction);
		if (!held.isEmpty()) {
			// Also a database that was not known at start.
			this.sweeper.add(transaction.dataSource());
		}
		transaction.begin(held);
	}

	/** Called when a lock was acquired on this thread while a transaction is running. */
	void acquired(LockLease lease) {
		List<FencedTransaction> open = running();
		for (FencedTransaction transaction : List.copyOf(open)) {
			if (transaction.isCurrent()) {
				SortedSet<HeldKey> added = held(List.of(lease));
				added.removeIf((key) -> transaction.covers(key)
						|| open.stream().anyMatch((other) -> other != transaction && other.keeps(key, transaction)));
				transaction.ensureFenced();
				transaction.add(added);
			}
		}
		removeIfEmpty(open);
	}

	/** Called before a transaction is committed. */
	void beforeCommit(TransactionExecution execution) {
		List<FencedTransaction> open = this.running.get();
		if (open != null) {
			open.stream().filter((transaction) -> transaction.isOf(execution)).forEach(FencedTransaction::ensureFenced);
		}
	}

	/** Called when a transaction has ended. */
	void ended(TransactionExecution execution) {
		List<FencedTransaction> open = this.running.get();
		if (open != null) {
			open.removeIf((transaction) -> transaction.isOf(execution));
			removeIfEmpty(open);
		}
	}

	/** Leaves out those that have ended without a notification. */
	private List<FencedTransaction> running() {
		List<FencedTransaction> open = this.running.get();
		if (open == null) {
			open = new ArrayList<>(1);
			this.running.set(open);
		}
		open.removeIf(FencedTransaction::isCompleted);
		return open;
	}

	private void removeIfEmpty(List<FencedTransaction> open) {
		if (open.isEmpty()) {
			this.running.remove();
		}
	}

	/** Returns the keys of locks that have not been released on purpose. */
	private SortedSet<HeldKey> held(List<LockLease> leases) {
		SortedSet<HeldKey> held = new TreeSet<>();
		for (LockLease lease : leases) {
			if (lease.isHeld() || lease.lossReason() != null) {
				for (LockKey key : lease.keys()) {
					held.add(new HeldKey(this.keys.encode(lease.tokenSource(), key), key, lease.fencingToken(key)));
				}
			}
		}
		return held;
	}

	private static IdentityHashMap<DataSource, ConnectionHolder> bound() {
		return BoundConnections.of(TransactionSynchronizationManager.getResourceMap());
	}

	@Override
	public void close() {
		this.sweeper.close();
	}

}
