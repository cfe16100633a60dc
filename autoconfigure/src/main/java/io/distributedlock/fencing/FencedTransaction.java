package io.distributedlock.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
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

	/**
	 * The tokens of the fences by key. A fence in it is in the database too, unless it is
	 * among those that a savepoint has undone.
	 */
	private final Map<String, Long> tokens = new HashMap<>();

	/** The fences of locks that were acquired while the transaction was running. */
	private final Map<String, HeldKey> later = new HashMap<>();

	/** Whether a savepoint may have undone fences of locks that were acquired later. */
	private boolean undone;

	/** The failure of a statement, after which fences may be missing. */
	private @Nullable RuntimeException failure;

	FencedTransaction(TransactionExecution execution, DataSource dataSource, ConnectionHolder holder,
			FenceDialect dialect, int timeoutSeconds) {
		this.execution = execution;
		this.dataSource = dataSource;
		this.holder = holder;
		this.dialect = dialect;
		this.timeoutSeconds = timeoutSeconds;
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

	boolean isOn(FencedTransaction other) {
		return this.dataSource.equals(other.dataSource);
	}

	/** Whether the transaction has the row of a fence. */
	boolean has(HeldKey key) {
		return this.tokens.containsKey(key.text());
	}

	/** Whether a fence is as high as a lock's token already. */
	boolean covers(HeldKey key) {
		Long token = this.tokens.get(key.text());
		return token != null && token >= key.token().value();
	}

	/** Moves fences before any other statement of the transaction. */
	void begin(Iterable<HeldKey> keys) {
		keys.forEach((key) -> advance(key, true));
	}

	/** Moves the fences of a lock that was acquired in the running transaction. */
	void add(Iterable<HeldKey> keys) {
		for (HeldKey key : keys) {
			if (this.later.isEmpty()) {
				TransactionSynchronizationManager.registerSynchronization(new SavepointSynchronization());
			}
			advance(key, false);
			this.later.put(key.text(), key);
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
		if (this.undone) {
			this.later.values().stream().sorted().forEach((key) -> advance(key, false));
			this.undone = false;
		}
	}

	private void advance(HeldKey key, boolean first) {
		int seconds = seconds();
		boolean advanced;
		try {
			Connection connection = this.holder.getConnection();
			if (!this.dialect.supportsIsolation(connection, first)) {
				throw unsupportedIsolation(key, first);
			}
			advanced = this.dialect.advance(connection, key.text(), key.token().value(),
					FenceStatement.within(seconds));
		}
		catch (SQLException ex) {
			this.failure = FenceErrors.translate(ex, this.dialect, key.key(), seconds);
			throw this.failure;
		}
		if (!advanced) {
			throw new StaleHolderException(key.key(), key.token());
		}
		this.tokens.put(key.text(), key.token().value());
	}

	private int seconds() {
		return this.holder.hasTimeout()
				? Math.max(1, Math.min(this.holder.getTimeToLiveInSeconds(), this.timeoutSeconds))
				: this.timeoutSeconds;
	}

	private static LockConfigurationException unsupportedIsolation(HeldKey key, boolean first) {
		return new LockConfigurationException(LockError.FENCE_ISOLATION,
				"Lock '" + key.key() + "' cannot fence a transaction of this isolation level"
						+ (first ? "" : ", because it was acquired while the transaction was running")
						+ ": the transaction may read older data than that of the last holder",
				first ? "Use READ COMMITTED" : "Acquire the lock before the transaction begins, or use READ COMMITTED");
	}

	/** Notices savepoints, just before the transaction is rolled back to one. */
	private final class SavepointSynchronization implements TransactionSynchronization {

		@Override
		public void savepointRollback(Object savepoint) {
			FencedTransaction.this.undone = true;
			FencedTransaction.this.failure = null;
		}

	}

}
