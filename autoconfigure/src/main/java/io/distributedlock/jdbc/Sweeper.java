package io.distributedlock.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.jdbc.connection.SqlCall;
import io.distributedlock.jdbc.connection.SqlCallExecutor;
import io.distributedlock.jdbc.dialect.Dialect.SweepCandidate;
import io.distributedlock.jdbc.dialect.LockKeyEncoder;
import io.distributedlock.jdbc.dialect.LockRow;
import io.distributedlock.jdbc.dialect.RowAttempt;
import io.distributedlock.jdbc.dialect.ShareStatements;
import io.distributedlock.jdbc.dialect.SqlErrors;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockThreads;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;

/**
 * Periodic deletion of rows whose lock ended longer than the retention ago and whose
 * order is behind the clock, so that no later grant of the key can have a lower order.
 * Candidates are read first, then deleted by key with both conditions repeated, so that a
 * row acquired in between stays. A lock in the same table keeps other processes from
 * sweeping at the same time; when it was last acquired tells them that this period has
 * been swept already. Shares that ended longer than the retention ago are deleted too.
 */
public final class Sweeper {

	private static final int PAGE_SIZE = 500;

	/** Few, because an attempt waits for a row that is being deleted. */
	private static final int LOCKED_PAGE_SIZE = 100;

	/** How many sweeps leave shares alone after one that has found no table of them. */
	private static final int SWEEPS_WITHOUT_SHARES = 10;

	/** What a table says that is missing, or that no script has allowed to be used. */
	private static final Set<LockError> NO_SHARES = Set.of(LockError.TABLE_MISSING, LockError.NOT_PERMITTED);

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private static final long LEASE_MICROS = TimeUnit.SECONDS.toMicros(60);

	private static final Log logger = LogFactory.getLog(Sweeper.class);

	private final SqlCallExecutor calls;

	private final long retentionMicros;

	private final Duration period;

	private final LockTimer timer;

	private final String process;

	private final String holder;

	private final ExecutorService executor = LockThreads.pool("jdbc-sweep", 1);

	/** Where the next sweep goes on, if the last one had no time for the whole table. */
	private String after = "";

	private boolean warned;

	/** How many sweeps are still to leave shares alone. */
	private int sweepsWithoutShares;

	private volatile boolean stopped;

	private volatile @Nullable Future<?> next;

	Sweeper(SqlCallExecutor calls, Duration retention, LockTimer timer, String process, String holder) {
		this.calls = calls;
		this.retentionMicros = TimeUnit.NANOSECONDS.toMicros(retention.toNanos());
		this.period = Duration.ofMillis(Math.min(Math.max(retention.toMillis() / 4, 1000), 600_000));
		this.timer = timer;
		this.process = process;
		this.holder = holder;
	}

	public void start() {
		Duration pause = this.period.minusMillis(ThreadLocalRandom.current().nextLong(this.period.toMillis() / 4));
		this.next = this.timer.trySchedule(() -> this.executor.execute(this::runAndReschedule), pause.toNanos());
	}

	private void runAndReschedule() {
		try {
			if (call((connection, dialect) -> isDue(dialect.read(connection, LockKeyEncoder.SWEEPER_ROW)))) {
				run();
			}
		}
		catch (SQLException | RuntimeException ex) {
			logger.debug("Sweeping the lock table failed and will be retried", ex);
		}
		finally {
			if (!this.stopped) {
				start();
			}
		}
	}

	/** Whether no process has swept in this period yet, by the row of the sweeper. */
	private boolean isDue(@Nullable LockRow last) {
		return last == null || last.heldMicros() < 0
				|| last.heldMicros() >= TimeUnit.MILLISECONDS.toMicros(this.period.toMillis() * 3 / 4);
	}

	/**
	 * Sweeps once, unless another process does so.
	 * @return how many rows were deleted
	 */
	public int run() throws SQLException {
		String owner = LockRow.heldBy(OwnerId.random());
		RowAttempt attempt = new RowAttempt(LockKeyEncoder.SWEEPER_ROW, owner, LEASE_MICROS, this.holder, this.process,
				false, null);
		if (!call((connection, dialect) -> dialect.attempt(connection, attempt, true)).isHeldBy(owner)) {
			return 0;
		}
		try {
			Deadline deadline = Deadline.afterNanos(TimeUnit.MICROSECONDS.toNanos(LEASE_MICROS / 2));
			return sweep(deadline) + sweepRowsOfRowLocks(deadline) + sweepShares(deadline);
		}
		finally {
			call((connection, dialect) -> dialect.release(connection, LockKeyEncoder.SWEEPER_ROW, owner, this.process));
		}
	}

	private int sweep(Deadline deadline) throws SQLException {
		int swept = 0;
		while (!this.stopped && !deadline.isPast()) {
			String from = this.after;
			List<SweepCandidate> page = call((connection, dialect) -> dialect.readSweepCandidates(connection, from,
					PAGE_SIZE, this.retentionMicros));
			List<String> keys = page.stream().filter(SweepCandidate::deletable).map(SweepCandidate::key).toList();
			boolean last = page.size() < PAGE_SIZE;
			// Before the deletion: rows that cannot be deleted do not end all sweeping.
			this.after = last ? "" : page.get(page.size() - 1).key();
			swept += keys.isEmpty() ? 0 : delete(keys);
			if (last) {
				break;
			}
		}
		return swept;
	}

	private int sweepRowsOfRowLocks(Deadline deadline) throws SQLException {
		return sweepPages(deadline,
				(connection, dialect) -> dialect.rowLocks().sweep(connection, LOCKED_PAGE_SIZE, this.retentionMicros));
	}

	private int sweepShares(Deadline deadline) throws SQLException {
		if (this.sweepsWithoutShares > 0) {
			this.sweepsWithoutShares--;
			return 0;
		}
		try {
			return sweepPages(deadline, (connection, dialect) -> new ShareStatements(dialect).sweep(connection,
					LOCKED_PAGE_SIZE, this.retentionMicros));
		}
		catch (SQLException ex) {
			if (!NO_SHARES.contains(SqlErrors.classify(ex))) {
				throw ex;
			}
			// Seldom, because servers log failures.
			this.sweepsWithoutShares = SWEEPS_WITHOUT_SHARES;
			return 0;
		}
	}

	private int sweepPages(Deadline deadline, SqlCall<Integer> page) throws SQLException {
		int swept = 0;
		int last = LOCKED_PAGE_SIZE;
		while (!this.stopped && !deadline.isPast() && last == LOCKED_PAGE_SIZE) {
			last = call((connection, dialect) -> dialect.supportsRowLocks() ? page.run(connection, dialect) : 0);
			swept += last;
		}
		return swept;
	}

	private int delete(List<String> keys) throws SQLException {
		try {
			return call((connection, dialect) -> dialect.sweep(connection, keys, this.retentionMicros));
		}
		catch (SQLException ex) {
			if (SqlErrors.classify(ex) == LockError.NOT_PERMITTED && !this.warned) {
				this.warned = true;
				logger.warn("Old rows of the lock table cannot be deleted, so that it grows; the locks are not "
						+ "affected. Grant DELETE on the table: " + ex.getMessage());
			}
			throw ex;
		}
	}

	private <T> T call(SqlCall<T> call) throws SQLException {
		return this.calls.execute(CallKind.RELEASE, TIMEOUT, call);
	}

	void stop() {
		this.stopped = true;
		Future<?> scheduled = this.next;
		if (scheduled != null) {
			scheduled.cancel(false);
		}
		this.executor.shutdown();
	}

}
