package io.distributedlock.jdbc;

import java.time.Duration;

import io.distributedlock.FencingToken;
import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.Dialect.TableStatus;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LayoutFormat;

/**
 * Check of the database, its lock table, and the rights on it. One that the database did
 * not answer at start is completed before the first attempt: without its primary key a
 * table of MySQL or MariaDB would let every attempt acquire the lock. Safe for use by
 * many threads.
 */
final class TableCheck {

	private static final LayoutFormat FORMAT = new LayoutFormat(1);

	private final LockTable table;

	private final String tableName;

	private final NotificationListener listener;

	/** Whether a check was begun and has not succeeded yet. */
	private volatile boolean pending;

	/** Whether the table and the rights were found to be as they must be. */
	private volatile boolean usable;

	TableCheck(LockTable table, String tableName, NotificationListener listener) {
		this.table = table;
		this.tableName = tableName;
		this.listener = listener;
	}

	/**
	 * Checks the database, and until that has succeeded once also the table and the
	 * rights.
	 * @throws LockConfigurationException if something is not as it must be
	 * @throws LockProviderException if the database could not answer, or does not write
	 */
	void run(Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		this.pending = !this.usable;
		TableStatus status = this.table.readStatus(timeout);
		DialectResolver.requirePostgres(status.version());
		FORMAT.requireSupported("the table '" + this.tableName + "'", Long.toString(status.format()));
		if (status.clockMicros() <= 0 || status.clockMicros() > FencingToken.MAX_ORDER) {
			throw new LockProviderException(LockError.STORE_FAILED, SqlErrors.PROVIDER,
					"has a clock that is out of the range of fencing tokens: " + status.clockMicros()
							+ " µs since 1970",
					null);
		}
		if (!this.usable) {
			this.table.requireUsable(deadline.remaining());
			if (this.table.isPooled(deadline.remaining())) {
				// It warns at start if notifications do not arrive.
				this.listener.start();
			}
			this.usable = true;
			this.pending = false;
		}
	}

	/**
	 * Completes a check before an attempt.
	 * @param timeout the time for both
	 * @return the time that is left for the attempt
	 */
	Duration complete(Duration timeout) {
		if (!this.pending) {
			return timeout;
		}
		Deadline deadline = Deadline.after(timeout);
		run(timeout);
		return deadline.remaining();
	}

}
