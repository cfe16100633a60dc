package io.distributedlock.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.jdbc.dialect.SqlErrors;
import io.distributedlock.provider.LockThreads;
import io.distributedlock.provider.LockTimer;

/**
 * Periodic deletion of fences that have not moved for {@value #DAYS} days. Each row is
 * deleted by itself, once it is free, if it is still old then. Safe for use by many
 * threads.
 *
 * @since 0.1.0
 */
public final class FenceSweeper implements AutoCloseable {

	/** How many days a fence is kept after it has moved. */
	static final int DAYS = 7;

	private static final int PAGE_SIZE = 500;

	private static final Duration PERIOD = Duration.ofHours(6);

	private static final Log logger = LogFactory.getLog(FenceSweeper.class);

	private final String table;

	private final LockTimer timer;

	private final ExecutorService executor = LockThreads.pool("fence-sweep", 1);

	/**
	 * Guarded by its monitor, never during a statement. Forgets databases that the
	 * application has given up.
	 */
	private final Set<DataSource> databases = Collections.newSetFromMap(new WeakHashMap<>());

	/** Whether a sweep was planned; guarded by the monitor of the databases. */
	private boolean started;

	private volatile @Nullable Future<?> next;

	/**
	 * Creates a sweeper, which starts with its first database.
	 * @param settings the settings of the fences
	 * @param timer the timer
	 */
	public FenceSweeper(FenceSettings settings, LockTimer timer) {
		this.table = settings.table();
		this.timer = timer;
	}

	/** Sweeps a database too from now on. */
	void add(DataSource database) {
		synchronized (this.databases) {
			this.databases.add(database);
			if (this.started) {
				return;
			}
			this.started = true;
		}
		schedule();
	}

	private void schedule() {
		if (this.executor.isShutdown()) {
			return;
		}
		Duration pause = PERIOD.minusMillis(ThreadLocalRandom.current().nextLong(PERIOD.toMillis() / 4));
		this.next = this.timer.trySchedule(() -> this.executor.execute(this::runAndReschedule), pause.toNanos());
	}

	private void runAndReschedule() {
		List<DataSource> present;
		synchronized (this.databases) {
			present = new ArrayList<>(this.databases);
		}
		for (DataSource database : present) {
			try {
				run(database);
			}
			catch (SQLException | RuntimeException ex) {
				logger.debug("Sweeping the fences failed and will be retried", ex);
			}
		}
		schedule();
	}

	/**
	 * Sweeps a database once.
	 * @return how many fences were deleted
	 */
	long run(DataSource database) throws SQLException {
		try (Connection connection = database.getConnection()) {
			boolean autoCommit = connection.getAutoCommit();
			connection.setAutoCommit(true);
			try {
				return sweep(connection, FenceDialect.of(connection, this.table));
			}
			finally {
				connection.setAutoCommit(autoCommit);
			}
		}
	}

	private long sweep(Connection connection, FenceDialect dialect) throws SQLException {
		long deleted = 0;
		String after = "";
		while (!this.executor.isShutdown()) {
			List<String> page = dialect.readOld(connection, after, DAYS, PAGE_SIZE);
			for (String key : page) {
				try {
					deleted += dialect.deleteOld(connection, key, DAYS);
				}
				catch (SQLException ex) {
					// A transaction has the fence, which is left for the next time.
					if (SqlErrors.classify(ex) != LockError.STORE_TIMEOUT) {
						throw ex;
					}
				}
			}
			if (page.size() < PAGE_SIZE) {
				break;
			}
			after = page.get(page.size() - 1);
		}
		return deleted;
	}

	@Override
	public void close() {
		this.executor.shutdown();
		Future<?> scheduled = this.next;
		if (scheduled != null) {
			scheduled.cancel(false);
		}
	}

}
