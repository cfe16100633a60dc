package io.distributedlock.jdbc.rowlock;

import java.time.Duration;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.LockTable;
import io.distributedlock.provider.Deadline;

/**
 * Check that the database, and what stands before it, can keep row locks. Safe for use by
 * many threads.
 */
final class RowLockServerCheck {

	private final LockTable table;

	RowLockServerCheck(LockTable table) {
		this.table = table;
	}

	/**
	 * Checks the database.
	 * @throws LockConfigurationException if it cannot keep row locks
	 * @throws LockProviderException if it could not answer
	 */
	void run(Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		refusePooler(timeout);
		refuseMultiPrimary(deadline.remaining());
	}

	/**
	 * A pooler bounds transactions, and gives each lock one of few server connections.
	 */
	private void refusePooler(Duration timeout) {
		if (this.table.isPooled(timeout)) {
			throw new LockConfigurationException(LockError.STORE_UNSUITABLE,
					"A connection pooler such as PgBouncer stands before the database, and a row lock would keep one "
							+ "of its connections to the server for as long as it is held",
					"Give the locks a direct connection by @DistributedLockDataSource, or use "
							+ "distributed-lock.jdbc.strategy=lease");
		}
	}

	/** Two processes would both hold a lock, each on a server of its own. */
	private void refuseMultiPrimary(Duration timeout) {
		String setting = this.table.multiPrimary(timeout);
		if (setting != null) {
			throw new LockConfigurationException(LockError.STORE_UNSUITABLE,
					"The database has several servers that accept writes (" + setting
							+ "), and each of them locks rows for itself, so that two processes could hold a row lock",
					"Use distributed-lock.jdbc.strategy=lease, or a database with one primary");
		}
	}

}
