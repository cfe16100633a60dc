package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.jdbc.connection.ConnectionSource;
import io.distributedlock.jdbc.connection.DedicatedConnection;
import io.distributedlock.jdbc.connection.SqlCallExecutor;
import io.distributedlock.jdbc.dialect.Dialect;
import io.distributedlock.jdbc.dialect.NotificationPayload;
import io.distributedlock.jdbc.dialect.PostgresDialect;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockThreads;
import io.distributedlock.provider.OwnerId;

/**
 * Listener of the database's notifications, which forwards them to the contenders of this
 * process. It listens on a connection of its own, from the first contender that waits
 * until no contender has waited for 10 s. It counts as receiving only after it has
 * received a notification of its own, because a pooler may swallow them. A lost
 * notification costs one poll of the contender. Safe for use by many threads.
 */
final class NotificationListener implements AutoCloseable {

	/** Begins the payload by which the listener tests that it receives notifications. */
	private static final String SELF_TEST = "%self-test:";

	private static final int SELF_TEST_MILLIS = 1000;

	private static final int SESSION_TESTS = 3;

	private static final int PERIOD_MILLIS = 500;

	private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);

	/** A connection that lasted so long resets the count of failures. */
	private static final long STABLE_NANOS = TimeUnit.SECONDS.toNanos(5);

	private static final long VALIDATION_NANOS = TimeUnit.SECONDS.toNanos(10);

	private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private static final long MAX_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(30);

	private static final int FAILURES_BEFORE_WARNING = 3;

	private static final Log logger = LogFactory.getLog(NotificationListener.class);

	private final ConnectionSource connections;

	private final SqlCallExecutor calls;

	/** The contenders of this process that wait, by the texts of their key columns. */
	private final Map<String, List<NotifiedContender>> contenders = new ConcurrentHashMap<>();

	private final ExecutorService executor = LockThreads.pool("jdbc-listener", 1);

	private final AtomicBoolean running = new AtomicBoolean();

	private volatile boolean closed;

	private volatile boolean receiving;

	private volatile @Nullable NotificationConnection connection;

	private volatile @Nullable Thread thread;

	private volatile Deadline notBefore = Deadline.now();

	private volatile long lastNeededNanos;

	private int failures;

	private boolean warned;

	NotificationListener(ConnectionSource connections, SqlCallExecutor calls) {
		this.connections = connections;
		this.calls = calls;
	}

	/** Whether notifications are known to arrive. */
	boolean isReceiving() {
		return this.receiving;
	}

	/** Registers a contender of this process that waits, instead of an earlier one. */
	void register(String key, NotifiedContender contender) {
		this.contenders.merge(key, List.of(contender),
				(others, added) -> Stream
					.concat(others.stream().filter((other) -> !other.id().equals(contender.id())), added.stream())
					.toList());
	}

	/** Returns the contenders of a key: the exclusive one, and one for each limit. */
	List<NotifiedContender> find(String key) {
		return this.contenders.getOrDefault(key, List.of());
	}

	void unregister(String key, NotifiedContender contender) {
		unregister(key, contender::equals);
	}

	private void unregister(String key, Predicate<NotifiedContender> ended) {
		this.contenders.computeIfPresent(key, (same, present) -> {
			List<NotifiedContender> left = present.stream().filter(ended.negate()).toList();
			return left.isEmpty() ? null : left;
		});
	}

	/** Returns of how many keys contenders of this process are registered. */
	int contenders() {
		return this.contenders.size();
	}

	/**
	 * Starts to listen, unless it listens already or the database has no notifications.
	 */
	void start() {
		if (this.running.get() || this.closed || channel() == null || !this.running.compareAndSet(false, true)) {
			return;
		}
		this.lastNeededNanos = System.nanoTime();
		try {
			this.executor.execute(this::run);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The listener is closed", ex);
		}
		catch (OutOfMemoryError ex) {
			// Without a thread contenders poll, until a later one starts the listener.
			logger.debug("The listener has no thread", ex);
			this.running.set(false);
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
				long leftNanos = this.notBefore.remainingNanos();
				if (leftNanos > 0) {
					LockSupport.parkNanos(this, Math.min(leftNanos, TimeUnit.MILLISECONDS.toNanos(PERIOD_MILLIS)));
				}
				else {
					listen();
				}
			}
		}
		finally {
			this.thread = null;
			this.running.set(false);
			if (!this.contenders.isEmpty()) {
				start();
			}
		}
	}

	private boolean isNeeded() {
		long now = System.nanoTime();
		unregisterIdleSince(now - IDLE_NANOS);
		if (!this.contenders.isEmpty()) {
			this.lastNeededNanos = now;
		}
		return !this.closed && now - this.lastNeededNanos < IDLE_NANOS;
	}

	/**
	 * Unregisters contenders that have not attempted since then.
	 * @param nanos an instant of {@link System#nanoTime()}
	 */
	void unregisterIdleSince(long nanos) {
		this.contenders.keySet().forEach((key) -> unregister(key, (contender) -> !contender.hasAttemptedSince(nanos)));
	}

	/** Forwards a payload to the contenders of its key. Ignores one that is not valid. */
	void forward(String text) {
		NotificationPayload payload = NotificationPayload.parse(text);
		if (payload != null) {
			find(payload.key()).forEach((contender) -> contender.onNotification(payload));
		}
	}

	private void listeningChanged() {
		this.contenders.values().forEach((same) -> same.forEach(NotifiedContender::onListeningChanged));
	}

	private void listen() {
		String channel = channel();
		if (channel == null) {
			return;
		}
		Deadline stable = Deadline.afterNanos(STABLE_NANOS);
		try (NotificationConnection listening = open(channel)) {
			this.connection = listening;
			if (listening != null && receivesSelfTest(listening, channel)) {
				this.receiving = true;
				listeningChanged();
				receive(listening);
			}
			else if (!this.closed) {
				this.notBefore = Deadline.afterNanos(MAX_PAUSE_NANOS);
				warn("notifications of PostgreSQL do not arrive, as behind a pooler in transaction mode such as "
						+ "PgBouncer. Locks are safe, but waiting processes acquire released locks later. Define a "
						+ "DataSource with a direct connection, qualified with @DistributedLockDataSource", null);
			}
		}
		catch (SQLException | RuntimeException | LinkageError ex) {
			failed(stable, ex);
		}
		finally {
			this.connection = null;
			if (this.receiving) {
				this.receiving = false;
				listeningChanged();
			}
		}
	}

	/**
	 * Begins to listen, unless connections share sessions: one that the application uses
	 * would go on to listen.
	 */
	private @Nullable NotificationConnection open(String channel) throws SQLException {
		DedicatedConnection dedicated = this.connections.openDedicated();
		boolean shared = true;
		try {
			shared = sharesSessions(dedicated.connection());
		}
		finally {
			if (shared) {
				dedicated.close();
			}
		}
		return shared ? null : NotificationConnection.listen(dedicated, channel);
	}

	/**
	 * Whether a pooler lets connections share sessions: two that are open have the same,
	 * or one has another than before.
	 */
	private boolean sharesSessions(Connection connection) throws SQLException {
		int session = PostgresDialect.processId(connection);
		boolean shared = false;
		for (int round = 0; round < SESSION_TESTS && !shared; round++) {
			int other = this.calls.execute(CallKind.ACQUIRE, Duration.ofMillis(SELF_TEST_MILLIS),
					(any, dialect) -> PostgresDialect.processId(any));
			shared = other == session || PostgresDialect.processId(connection) != session;
		}
		return shared;
	}

	private boolean receivesSelfTest(NotificationConnection listening, String channel) throws SQLException {
		String payload = SELF_TEST + OwnerId.random();
		this.calls.execute(CallKind.ACQUIRE, Duration.ofMillis(SELF_TEST_MILLIS), (any, dialect) -> {
			NotificationConnection.send(any, channel, payload);
			return true;
		});
		Deadline deadline = Deadline.after(Duration.ofMillis(SELF_TEST_MILLIS));
		long leftNanos = deadline.remainingNanos();
		while (leftNanos > 0 && !this.closed) {
			if (listening.await((int) TimeUnit.NANOSECONDS.toMillis(leftNanos)).contains(payload)) {
				return true;
			}
			leftNanos = deadline.remainingNanos();
		}
		return false;
	}

	private void receive(NotificationConnection listening) throws SQLException {
		Deadline validation = Deadline.afterNanos(VALIDATION_NANOS);
		while (isNeeded()) {
			listening.await(PERIOD_MILLIS).forEach(this::forward);
			if (validation.isPast() && !this.contenders.isEmpty()) {
				if (!listening.isAlive()) {
					throw new SQLException("The listening connection does not answer");
				}
				validation = Deadline.afterNanos(VALIDATION_NANOS);
			}
		}
	}

	/** Sets the pause before the next try, which grows while connections do not last. */
	private void failed(Deadline stable, Throwable ex) {
		if (this.closed) {
			return;
		}
		this.failures = (this.receiving && stable.isPast()) ? 1 : this.failures + 1;
		long pauseNanos = Math.min(FIRST_PAUSE_NANOS << Math.min(this.failures, 10), MAX_PAUSE_NANOS);
		this.notBefore = Deadline.afterNanos(pauseNanos - ThreadLocalRandom.current().nextLong(pauseNanos / 4));
		logger.debug("Listening for notifications failed and will be retried", ex);
		if (this.failures == FAILURES_BEFORE_WARNING) {
			warn("listening for notifications of PostgreSQL fails repeatedly", ex);
		}
	}

	private void warn(String problem, @Nullable Throwable cause) {
		if (!this.warned) {
			this.warned = true;
			logger.warn("Contenders for locks poll the database: " + problem, cause);
		}
	}

	/** Stops to listen at once. */
	@Override
	public void close() {
		this.closed = true;
		this.executor.shutdown();
		LockSupport.unpark(this.thread);
		NotificationConnection current = this.connection;
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
