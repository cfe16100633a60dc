package io.distributedlock.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Date;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.distributedlock.StaleHolderException;

/**
 * A running transaction and the fences whose rows it has. Used by the thread of the
 * transaction alone.
 */
final class FencedTransaction {

	private final TransactionExecution execution;

	private final DataSource dataSource;

	private final ConnectionHolder holder;

	private final FenceDialect dialect;

	private final int timeoutSeconds;

	/** The fences that were moved, by key. */
	private final Map<String, HeldKey> fences = new HashMap<>();

	/** Keys of fences of locks that were acquired while the transaction was running. */
	private final Set<String> later = new HashSet<>();

	/** Keys of fences that may not be in the database any more. */
	private final Set<String> undone = new HashSet<>();

	/** The failure of a statement, after which fences may be missing. */
	private @Nullable RuntimeException failure;

	private boolean watched;

	/** Whether the transaction has no row any more, while Spring is still ending it. */
	private boolean ended;

	FencedTransaction(TransactionExecution execution, DataSource dataSource, ConnectionHolder holder,
			FenceDialect dialect, int timeoutSeconds) {
		this.execution = execution;
		this.dataSource = dataSource;
		this.holder = holder;
		this.dialect = dialect;
		this.timeoutSeconds = timeoutSeconds;
	}

	DataSource dataSource() {
		return this.dataSource;
	}

	boolean isOf(TransactionExecution other) {
		return this.execution == other;
	}

	boolean isCompleted() {
		return this.execution.isCompleted();
	}

	/** Whether the statements of this thread run in the transaction. */
	boolean isCurrent() {
		return TransactionSynchronizationManager.getResource(this.dataSource) == this.holder;
	}

	private FenceDialect.Location location() throws SQLException {
		return this.dialect.location(this.holder.getConnection());
	}

	/**
	 * Whether the transaction keeps the row of a fence, with a token that is not lower,
	 * for another one at the same location, while it is suspended. The fence is moved
	 * once more: a database may have undone the transaction, as PostgreSQL does after an
	 * error and MySQL after a deadlock.
	 * @throws StaleHolderException if the lock has passed to another holder
	 */
	boolean keeps(HeldKey key, FencedTransaction other) {
		HeldKey known = this.fences.get(key.text());
		if (this.ended || known == null || !this.dataSource.equals(other.dataSource)) {
			return false;
		}
		try (ReadLimit limit = limitReads()) {
			if (!location().equals(other.location())) {
				return false;
			}
			if (covers(key)) {
				move(known);
			}
			else {
				move(key);
				this.later.add(key.text());
			}
			return true;
		}
		catch (SQLException ex) {
			this.undone.addAll(this.fences.keySet());
			return false;
		}
	}

	/** Whether a fence is as high as a lock's token already. */
	boolean covers(HeldKey key) {
		HeldKey known = this.fences.get(key.text());
		return known != null && known.token().value() >= key.token().value();
	}

	/**
	 * Moves fences.
	 * @param first whether that is before any other statement of the transaction; else
	 * they are those of a lock that was acquired in it
	 */
	void add(Iterable<HeldKey> keys, boolean first) {
		for (HeldKey key : keys) {
			watch();
			advance(key, first);
			if (!first) {
				this.later.add(key.text());
			}
		}
	}

	/** Lets Spring tell of savepoints and of the end. */
	private void watch() {
		if (!this.watched && TransactionSynchronizationManager.isSynchronizationActive()) {
			this.watched = true;
			TransactionSynchronizationManager.registerSynchronization(new Watch());
		}
	}

	/**
	 * Moves undone fences again.
	 * @throws RuntimeException if a fence may be missing
	 */
	void ensureFenced() {
		if (this.failure != null) {
			throw this.failure;
		}
		if (!this.undone.isEmpty()) {
			List<HeldKey> missing = this.fences.values()
				.stream()
				.filter((key) -> this.undone.contains(key.text()))
				.sorted()
				.toList();
			missing.forEach((key) -> advance(key, false));
		}
	}

	private void advance(HeldKey key, boolean first) {
		try (ReadLimit limit = limitReads()) {
			Connection connection = this.holder.getConnection();
			if (!this.dialect.supportsIsolation(connection, first)) {
				throw FenceErrors.unsupportedIsolation(key.key(), connection, first);
			}
			move(key);
		}
		catch (SQLException ex) {
			this.failure = FenceErrors.translate(ex, this.dialect, key.key(), seconds());
			throw this.failure;
		}
	}

	private ReadLimit limitReads() throws SQLException {
		return ReadLimit.of(this.holder.getConnection(), seconds());
	}

	private void move(HeldKey key) throws SQLException {
		if (!this.dialect.advance(this.holder.getConnection(), key.text(), key.token().value(), seconds())) {
			throw new StaleHolderException(key.key(), key.token());
		}
		this.fences.put(key.text(), key);
		this.undone.remove(key.text());
	}

	/**
	 * Returns how long to wait for a fence. A transaction that is over time is not ended
	 * here: at its commit Spring would then not roll it back.
	 */
	private int seconds() {
		Date deadline = this.holder.getDeadline();
		if (deadline == null) {
			return this.timeoutSeconds;
		}
		@SuppressWarnings("JavaUtilDate") // as Spring declares it
		long left = TimeUnit.MILLISECONDS.toSeconds(deadline.getTime() - System.currentTimeMillis() + 999);
		return (int) Math.max(1, Math.min(left, this.timeoutSeconds));
	}

	/**
	 * Notices, before others do, that the transaction is rolled back to a savepoint, or
	 * has ended.
	 */
	private final class Watch implements TransactionSynchronization {

		@Override
		public int getOrder() {
			return HIGHEST_PRECEDENCE;
		}

		/** A deadlock may have undone more than the savepoint does. */
		@Override
		public void savepointRollback(Object savepoint) {
			FencedTransaction transaction = FencedTransaction.this;
			transaction.undone.addAll((transaction.failure != null) ? transaction.fences.keySet() : transaction.later);
			transaction.failure = null;
		}

		@Override
		public void afterCommit() {
			FencedTransaction.this.ended = true;
		}

		@Override
		public void afterCompletion(int status) {
			FencedTransaction.this.ended = true;
		}

	}

}
