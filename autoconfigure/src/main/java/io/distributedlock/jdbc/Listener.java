package io.distributedlock.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.LockThreads;
import io.distributedlock.provider.OwnerId;

/**
 * Hears from the database that a lock was passed on, and tells who waits for it. Listens
 * on a connection of its own, from when the first contender has to wait until nobody has
 * waited for a while. It is believed only after it has heard itself: a pooler may swallow
 * what is said. Whatever it misses, waiters find by looking themselves.
 */
final class Listener implements AutoCloseable {

	private static final String HELLO = "%hello:";

	private static final int HELLO_TIME = 1000;

	private static final int PERIOD = 500;

	private static final long IDLE = TimeUnit.SECONDS.toNanos(10);

	/** How long a connection lasts before its next failure counts as the first. */
	private static final long STABLE = TimeUnit.SECONDS.toNanos(5);

	private static final long VALIDATION = TimeUnit.SECONDS.toNanos(10);

	private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(50);

	private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(30);

	private static final int FAILURES_TO_WARN_OF = 3;

	private static final Log logger = LogFactory.getLog(Listener.class);

	private final LockDataSource dataSource;

	private final BoundedCalls calls;

	private final WaitingContenders waiting;

	private final ExecutorService executor = LockThreads.pool("jdbc-listener", 1);

	private final AtomicBoolean running = new AtomicBoolean();

	private volatile boolean closed;

	private volatile boolean hears;

	private volatile @Nullable ListeningConnection connection;

	private volatile @Nullable Thread thread;

	private volatile long notBefore = System.nanoTime();

	private volatile long lastNeeded;

	private int failures;

	private boolean warned;

	Listener(LockDataSource dataSource, BoundedCalls calls, WaitingContenders waiting) {
		this.dataSource = dataSource;
		this.calls = calls;
		this.waiting = waiting;
	}

	/** Whether what the database says is known to arrive. */
	boolean hears() {
		return this.hears;
	}

	/** Begins to listen, unless it does so or the database cannot tell. */
	void start() {
		if (this.running.get() || this.closed || channel() == null || !this.running.compareAndSet(false, true)) {
			return;
		}
		this.lastNeeded = System.nanoTime();
		try {
			this.executor.execute(this::run);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The listener is closed", ex);
		}
	}

	private @Nullable String channel() {
		Dialect dialect = this.calls.knownDialect();
		return (dialect != null) ? dialect.channel() : null;
	}

	private void run() {
		this.thread = Thread.currentThread();
		try {
			while (isNeeded()) {
				long left = this.notBefore - System.nanoTime();
				if (left > 0) {
					LockSupport.parkNanos(this, Math.min(left, TimeUnit.MILLISECONDS.toNanos(PERIOD)));
				}
				else {
					listen();
				}
			}
		}
		finally {
			this.thread = null;
			this.running.set(false);
			if (!this.waiting.isEmpty()) {
				start();
			}
		}
	}

	private boolean isNeeded() {
		long now = System.nanoTime();
		this.waiting.removeThoseNotSeenSince(now - IDLE);
		if (!this.waiting.isEmpty()) {
			this.lastNeeded = now;
		}
		return !this.closed && now - this.lastNeeded < IDLE;
	}

	private void listen() {
		String channel = channel();
		if (channel == null) {
			return;
		}
		long begun = System.nanoTime();
		try (ListeningConnection listening = ListeningConnection.listen(this.dataSource.dedicated(), channel)) {
			this.connection = listening;
			if (hearsItself(listening, channel)) {
				this.hears = true;
				this.waiting.lookAll();
				hear(listening);
			}
			else if (!this.closed) {
				this.notBefore = System.nanoTime() + LONGEST_PAUSE;
				warn("what PostgreSQL notifies does not arrive; a pooler in transaction mode, such as PgBouncer, "
						+ "swallows it, and lets the settings of the locks' sessions reach the application's. Give the "
						+ "locks a direct connection by a DataSource qualified with @DistributedLockDataSource", null);
			}
		}
		catch (SQLException | RuntimeException | LinkageError ex) {
			failed(begun, ex);
		}
		finally {
			this.connection = null;
			if (this.hears) {
				this.hears = false;
				this.waiting.lookAll();
			}
		}
	}

	private boolean hearsItself(ListeningConnection listening, String channel) throws SQLException {
		String hello = HELLO + OwnerId.random();
		this.calls.call(CallKind.ACQUIRE, Duration.ofMillis(HELLO_TIME), (any, dialect) -> {
			ListeningConnection.say(any, channel, hello);
			return true;
		});
		long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(HELLO_TIME);
		long left = end - System.nanoTime();
		while (left > 0 && !this.closed) {
			for (String said : listening.await((int) TimeUnit.NANOSECONDS.toMillis(left))) {
				if (said.equals(hello)) {
					return true;
				}
			}
			left = end - System.nanoTime();
		}
		return false;
	}

	private void hear(ListeningConnection listening) throws SQLException {
		long validated = System.nanoTime();
		while (isNeeded()) {
			listening.await(PERIOD).forEach(this.waiting::tell);
			if (System.nanoTime() - validated >= VALIDATION && !this.waiting.isEmpty()) {
				if (!listening.isAlive()) {
					throw new SQLException("The connection does not answer");
				}
				validated = System.nanoTime();
			}
		}
	}

	/** Tries again after a pause that grows while connections do not last. */
	private void failed(long begun, Throwable ex) {
		if (this.closed) {
			return;
		}
		long now = System.nanoTime();
		this.failures = (this.hears && now - begun >= STABLE) ? 1 : this.failures + 1;
		long pause = Math.min(FIRST_PAUSE << Math.min(this.failures, 10), LONGEST_PAUSE);
		this.notBefore = now + pause - ThreadLocalRandom.current().nextLong(pause / 4);
		logger.debug("Listening failed, and will be tried again", ex);
		if (this.failures == FAILURES_TO_WARN_OF) {
			warn("listening to what PostgreSQL notifies fails again and again", ex);
		}
	}

	private void warn(String problem, @Nullable Throwable cause) {
		if (!this.warned) {
			this.warned = true;
			logger.warn("Waiting for locks of other processes polls the database: " + problem, cause);
		}
	}

	/** Ends listening at once. */
	@Override
	public void close() {
		this.closed = true;
		this.executor.shutdown();
		LockSupport.unpark(this.thread);
		ListeningConnection current = this.connection;
		if (current != null) {
			try {
				current.abort();
			}
			catch (SQLException ex) {
				logger.debug("The listening connection could not be aborted", ex);
			}
		}
	}

}
