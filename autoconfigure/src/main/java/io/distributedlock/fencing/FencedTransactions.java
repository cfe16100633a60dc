package io.distributedlock.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockMode;
import io.distributedlock.jdbc.TableName;
import io.distributedlock.jdbc.dialect.SqlErrors;
import io.distributedlock.provider.LockThreads;

/**
 * The fences of all transactions. In its own transaction a holder moves the fence of each
 * key that it holds up to its token, and has the row until the transaction ends. So the
 * transaction of a holder whose lock has passed to another either ends before that one's
 * goes on, which then reads what it wrote, or is refused. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class FencedTransactions implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(FencedTransactions.class);

	private final FenceSettings settings;

	/**
	 * Dialects by the URL of connections, because a {@code DataSource} can choose among
	 * databases. Forgets those that the application has given up.
	 */
	private final Map<DataSource, Map<String, FenceDialect>> dialects = Collections
		.synchronizedMap(new WeakHashMap<>());

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
		this.settings = settings;
		this.sweeper = sweeper;
	}

	/**
	 * Checks that a database has the table. One that does not answer in time is reported.
	 * The check has a thread of its own: neither a pool nor a connection of the
	 * application bounds how long a database that hangs keeps its caller.
	 * @param dataSource the database
	 * @param name the name of the database for messages
	 * @throws LockConfigurationException if the table is missing, or the database is not
	 * supported
	 */
	void check(DataSource dataSource, String name) {
		if (!this.checked.add(dataSource)) {
			return;
		}
		Duration timeout = this.settings.startTimeout();
		FutureTask<Boolean> check = new FutureTask<>(() -> requireTable(dataSource, name));
		LockThreads.factory("fence-check").newThread(check).start();
		String problem = null;
		try {
			check.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (TimeoutException ex) {
			problem = "did not answer within " + timeout.toMillis() + " ms";
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			problem = "did not answer before the start was interrupted";
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof LockConfigurationException refusal) {
				throw refusal;
			}
			problem = "did not answer: " + ex.getCause();
		}
		if (problem != null) {
			logger.warn("The table of the fences could not be checked at start, because the database of " + name + " "
					+ problem);
		}
		this.sweeper.add(dataSource);
	}

	private boolean requireTable(DataSource dataSource, String name) throws SQLException {
		try (Connection connection = dataSource.getConnection()) {
			FenceDialect dialect = dialect(dataSource, connection);
			try {
				dialect.requireTable(connection);
				return true;
			}
			catch (SQLException ex) {
				if (SqlErrors.classify(ex) == LockError.TABLE_MISSING) {
					throw FenceErrors.missing(dialect, " of " + name, ex);
				}
				TableName.requireUnreserved(FenceSettings.TABLE_PROPERTY, dialect.table(), ex);
				throw ex;
			}
		}
	}

	private FenceDialect dialect(DataSource dataSource, Connection connection) throws SQLException {
		Map<String, FenceDialect> known = this.dialects.computeIfAbsent(dataSource, (key) -> new ConcurrentHashMap<>());
		String url = String.valueOf(connection.getMetaData().getURL());
		FenceDialect dialect = known.get(url);
		if (dialect == null) {
			dialect = FenceDialect.of(connection, this.settings.table());
			known.put(url, dialect);
		}
		return dialect;
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
			dialect = dialect(dataSource, holder.getConnection());
		}
		catch (SQLException ex) {
			throw new DataAccessResourceFailureException(
					"The database did not tell its product and version, so that the transaction was not fenced", ex);
		}
		return new FencedTransaction(execution, dataSource, holder, dialect, this.settings.timeoutSeconds());
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
		transaction.add(held, true);
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
				transaction.add(added, false);
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

	/**
	 * Returns the keys of locks that have not been released on purpose. Shares do not
	 * count: several holders write nothing that only the latest may write.
	 */
	private SortedSet<HeldKey> held(List<LockLease> leases) {
		SortedSet<HeldKey> held = new TreeSet<>();
		for (LockLease lease : leases) {
			if (lease.isHeld() || lease.lossReason() != null) {
				for (LockKey key : lease.keys()) {
					if (lease.mode(key) == LockMode.EXCLUSIVE) {
						held.add(HeldKey.of(this.settings.prefix(), lease, key));
					}
				}
			}
		}
		return held;
	}

	/** Returns the connections that transactions have bound to this thread. */
	private static IdentityHashMap<DataSource, ConnectionHolder> bound() {
		IdentityHashMap<DataSource, ConnectionHolder> bound = new IdentityHashMap<>(4);
		TransactionSynchronizationManager.getResourceMap().forEach((key, value) -> {
			if (key instanceof DataSource dataSource && value instanceof ConnectionHolder holder) {
				bound.put(dataSource, holder);
			}
		});
		return bound;
	}

	@Override
	public void close() {
		this.sweeper.close();
	}

}
