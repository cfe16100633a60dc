package io.distributedlock.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Consumer;

import io.distributedlock.FencingToken;
import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.dialect.Dialect.TableStatus;
import io.distributedlock.jdbc.dialect.SqlErrors;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LayoutFormat;

/**
 * Check of the database, its lock table, and the rights on it, before the first attempt:
 * without its primary key a table of MySQL or MariaDB would let every attempt acquire the
 * lock. It is repeated after a statement that has failed as one does on a table of
 * another format: each format makes the statements of the others fail. Safe for use by
 * many threads.
 */
public final class TableCheck {

	private static final LayoutFormat FORMAT = new LayoutFormat(2);

	private final LockTable table;

	private final String tableName;

	private final Consumer<Duration> serverCheck;

	/**
	 * The first step that has not succeeded yet. A check continues there, so that short
	 * time-outs end it some time. Threads that check at once may repeat a step, and none
	 * is skipped.
	 */
	private volatile Step next = Step.STATUS;

	/**
	 * Creates a check.
	 * @param serverCheck checks what the provider needs of the server besides, within a
	 * time-out; it may throw a {@link LockConfigurationException}
	 */
	TableCheck(LockTable table, String tableName, Consumer<Duration> serverCheck) {
		this.table = table;
		this.tableName = tableName;
		this.serverCheck = serverCheck;
	}

	/**
	 * Checks that the database answers, and until that has succeeded once also the table
	 * and the rights.
	 * @throws LockConfigurationException if something is not as it must be
	 * @throws LockProviderException if the database could not answer, or does not write
	 */
	void run(Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		checkStatus(timeout);
		if (this.next == Step.STATUS) {
			this.next = Step.SHAPE;
		}
		finish(deadline);
	}

	/**
	 * Checks that the database answers, and would accept writes to the table. Changes
	 * nothing.
	 * @throws LockConfigurationException if something is not as it must be
	 * @throws LockProviderException if the database could not answer, or does not write
	 */
	void probe(Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		checkStatus(timeout);
		this.table.requireWritable(deadline.remaining());
	}

	/**
	 * Does what no check has done yet.
	 * @param timeout the time for the check and for the attempt that follows
	 * @return the time that is left for the attempt
	 * @throws LockConfigurationException if something is not as it must be
	 * @throws LockProviderException if the database could not answer, or does not write;
	 * no attempt was sent
	 */
	public Duration complete(Duration timeout) {
		if (this.next == Step.NONE) {
			return timeout;
		}
		Deadline deadline = Deadline.after(timeout);
		try {
			finish(deadline);
		}
		catch (LockProviderException ex) {
			throw ex.isEffectUnknown()
					? LockProviderException.nothingSent(ex.error(), ex.provider(), ex.problem(), ex.getCause()) : ex;
		}
		return deadline.remaining();
	}

	/**
	 * Has the table checked again before the next attempt, if a failure may come from its
	 * format. One before the statement, as of a pool without a connection, does not.
	 */
	public void repeatAfter(Throwable failure) {
		if (failure instanceof LockProviderException ex && ex.isEffectUnknown() && ex.error() != LockError.STORE_TIMEOUT
				&& ex.getCause() instanceof SQLException cause && SqlErrors.isOfTable(cause)) {
			this.next = Step.STATUS;
		}
	}

	private void finish(Deadline deadline) {
		for (Step step = this.next; step != Step.NONE; step = step.following()) {
			Duration left = deadline.remaining();
			if (deadline.isPast()) {
				throw LockProviderException.nothingSent(LockError.STORE_TIMEOUT, SqlErrors.PROVIDER,
						"was not checked completely within its time-out (distributed-lock.call-timeout)", null);
			}
			switch (step) {
				case STATUS -> checkStatus(left);
				case SHAPE -> this.table.requireSuitable(left);
				case RIGHTS -> this.table.requireWritable(left);
				default -> this.serverCheck.accept(left);
			}
			this.next = step.following();
		}
	}

	private void checkStatus(Duration timeout) {
		TableStatus status = this.table.readStatus(timeout);
		FORMAT.requireSupported("the table '" + this.tableName + "'", Long.toString(status.format()));
		if (status.format() > 0 && status.format() < FORMAT.number()) {
			throw this.table.unsuitable("has the format %d of an earlier version, but this version needs %d"
				.formatted(status.format(), FORMAT.number()));
		}
		if (status.clockMicros() <= 0 || status.clockMicros() > FencingToken.MAX_ORDER) {
			throw new LockProviderException(LockError.STORE_FAILED, SqlErrors.PROVIDER,
					"has a clock that is out of the range of fencing tokens: " + status.clockMicros()
							+ " µs since 1970",
					null);
		}
	}

	/** Steps of the check, in their order. */
	private enum Step {

		STATUS, SHAPE, RIGHTS, SERVER, NONE;

		@SuppressWarnings("EnumOrdinal")
		Step following() {
			return values()[ordinal() + 1];
		}

	}

}
