package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.jdbc.Dialect.Candidate;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.LockThreads;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;

/**
 * Deletes rows whose lock ended longer than the retention ago and whose order the clock
 * has passed, so that no later grant of the key can get a lower one. Candidates are read
 * first and deleted by their key with both conditions repeated: a row that came back to
 * life in between stays. One process sweeps at a time, held apart by a row of this very
 * table.
 */
final class Sweeper {

	private static final int PAGE = 500;

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private static final long LEASE = TimeUnit.SECONDS.toMicros(60);

	private static final Log logger = LogFactory.getLog(Sweeper.class);

	private final BoundedCalls calls;

	private final long retention;

	private final long period;

	private final LockTimer timer;

	private final String process;

	private final String holder;

	private final ExecutorService executor = LockThreads.pool("jdbc-sweep", 1);

	private volatile boolean stopped;

	private volatile @Nullable Future<?> pending;

	Sweeper(BoundedCalls calls, Duration retention, LockTimer timer, String process, String holder) {
		this.calls = calls;
		this.retention = TimeUnit.NANOSECONDS.toMicros(retention.toNanos());
		this.period = Math.min(Math.max(retention.toMillis() / 4, 1000), 600_000);
		this.timer = timer;
		this.process = process;
		this.holder = holder;
	}

	void start() {
		long jittered = this.period - ThreadLocalRandom.current().nextLong(this.period / 4);
		try {
			this.pending = this.timer.schedule(() -> this.executor.execute(this::runAndGoOn),
					Duration.ofMillis(jittered));
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The timer is closed: no more sweeping", ex);
		}
	}

	private void runAndGoOn() {
		try {
			run();
		}
		catch (SQLException | RuntimeException ex) {
			logger.debug("Sweeping the lock table failed, and will be tried again", ex);
		}
		finally {
			if (!this.stopped) {
				start();
			}
		}
	}

	/** Sweeps once, unless another process does so; tells how many rows went. */
	int run() throws SQLException {
		String owner = OwnerId.random().text();
		Claim claim = new Claim(StoreKeys.SWEEPER, owner, LEASE, this.holder, this.process, false, null);
		if (!call((connection, dialect) -> dialect.attempt(connection, claim)).heldBy(owner)) {
			return 0;
		}
		try {
			return sweep();
		}
		finally {
			call((connection, dialect) -> dialect.release(connection, StoreKeys.SWEEPER, owner, this.process));
		}
	}

	private int sweep() throws SQLException {
		long end = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(LEASE / 2);
		int swept = 0;
		String after = "";
		while (!this.stopped && System.nanoTime() - end < 0) {
			String from = after;
			List<Candidate> page = call((connection, dialect) -> candidates(connection, dialect, from));
			List<String> keys = page.stream().filter(Candidate::sweepable).map(Candidate::key).toList();
			if (!keys.isEmpty()) {
				swept += call((connection, dialect) -> dialect.sweep(connection, keys, this.retention));
			}
			if (page.size() < PAGE) {
				break;
			}
			after = page.get(page.size() - 1).key();
		}
		return swept;
	}

	List<Candidate> candidates(Connection connection, Dialect dialect, String after) throws SQLException {
		return dialect.candidates(connection, after, PAGE, this.retention);
	}

	private <T> T call(SqlCall<T> call) throws SQLException {
		return this.calls.call(CallKind.RELEASE, TIMEOUT, call);
	}

	void stop() {
		this.stopped = true;
		Future<?> next = this.pending;
		if (next != null) {
			next.cancel(false);
		}
		this.executor.shutdown();
	}

}
