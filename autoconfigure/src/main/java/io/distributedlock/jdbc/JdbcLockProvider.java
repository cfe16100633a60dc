package io.distributedlock.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.Dialect.Probe;
import io.distributedlock.jdbc.Dialect.Renewal;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ProcessLabel;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;

/**
 * Keeps locks in a table: one row per key, one statement per step, all times from the
 * database's clock.
 * <p>
 * A lock is free for a process if its row has no owner, is reserved for that process, or
 * has expired; whoever's owner id the statement answers with holds it. A release keeps
 * the row, so that orders go on rising, and reserves the lock for the process next in
 * line. Waiters poll with a growing pause, or are told where the database can tell. A
 * database that cannot answer is a {@link LockProviderException}, never a busy lock. Safe
 * for use by many threads.
 *
 * @since 0.1.0
 */
public final class JdbcLockProvider implements LockProvider, AutoCloseable {

	/** The layout of the table that this version understands. */
	static final long FORMAT = 1;

	private static final Log logger = LogFactory.getLog(JdbcLockProvider.class);

	private final LockDataSource dataSource;

	private final JdbcLockSettings settings;

	private final StoreKeys keys;

	private final BoundedCalls calls;

	private final Sweeper sweeper;

	private final WaitingContenders waiting = new WaitingContenders();

	private final Listener listener;

	private final String process = OwnerId.random().text();

	private final String holder = ProcessLabel.get();

	/**
	 * Creates a provider and starts its sweeper. Does not yet talk to the database.
	 * @param dataSource the locks' connections, closed with the provider
	 * @param settings the settings
	 * @param timer the timer of the engine; must outlive the provider
	 */
	public JdbcLockProvider(LockDataSource dataSource, JdbcLockSettings settings, LockTimer timer) {
		this.dataSource = dataSource;
		this.settings = settings;
		this.keys = new StoreKeys(settings.keyPrefix());
		this.calls = new BoundedCalls(dataSource, settings.table(), timer);
		this.listener = new Listener(dataSource, this.calls, this.waiting);
		this.sweeper = new Sweeper(this.calls, settings.retention(), timer, this.process, this.holder);
		this.sweeper.start();
	}

	@Override
	public String name() {
		return SqlErrors.PROVIDER;
	}

	String process() {
		return this.process;
	}

	String holder() {
		return this.holder;
	}

	Sweeper sweeper() {
		return this.sweeper;
	}

	WaitingContenders waiting() {
		return this.waiting;
	}

	Listener listener() {
		return this.listener;
	}

	long grace() {
		Dialect dialect = this.calls.knownDialect();
		return (dialect != null) ? dialect.grace() : Claim.GRACE;
	}

	@Override
	public LockContender enter(LockKey key, Runnable changed) {
		return new JdbcContender(this, key, this.keys.text(key), changed);
	}

	/**
	 * The row as the call left it, or {@code null} if somebody else was at it for too
	 * long.
	 */
	@Nullable LockRow attempt(Duration timeout, SqlCall<LockRow> call, Claim claim) {
		try {
			return this.calls.call(CallKind.ACQUIRE, timeout, call, (connection, dialect, row) -> {
				if (row.heldBy(claim.owner())) {
					dialect.release(connection, claim.key(), claim.owner(), claim.process());
				}
			});
		}
		catch (SQLException ex) {
			if (SqlErrors.isContention(ex)) {
				return null;
			}
			throw translate(ex);
		}
	}

	@Override
	public Map<LockGrant, RenewalOutcome> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		List<LockGrant> grants = new ArrayList<>(leases.size());
		List<Renewal> renewals = new ArrayList<>(leases.size());
		leases.forEach((grant, lease) -> {
			grants.add(grant);
			renewals.add(new Renewal(this.keys.text(grant.key()), grant.owner().text(),
					TimeUnit.NANOSECONDS.toMicros(lease.toNanos())));
		});
		List<RenewalOutcome> answers;
		try {
			answers = this.calls.call(CallKind.RENEWAL, timeout,
					(connection, dialect) -> dialect.renew(connection, renewals));
		}
		catch (SQLException ex) {
			throw translate(ex);
		}
		Map<LockGrant, RenewalOutcome> outcomes = new HashMap<>();
		for (int i = 0; i < grants.size(); i++) {
			outcomes.put(grants.get(i), answers.get(i));
		}
		return outcomes;
	}

	@Override
	public ReleaseOutcome release(LockKey key, OwnerId owner, Duration timeout) {
		String text = this.keys.text(key);
		return giveBack("release", timeout,
				(connection, dialect) -> dialect.release(connection, text, owner.text(), this.process));
	}

	ReleaseOutcome withdraw(String text, Duration timeout) {
		return giveBack("withdrawal", timeout,
				(connection, dialect) -> dialect.withdraw(connection, text, this.process));
	}

	private ReleaseOutcome giveBack(String what, Duration timeout, SqlCall<Boolean> call) {
		try {
			return this.calls.call(CallKind.RELEASE, timeout, call) ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD;
		}
		catch (SQLException | LockException ex) {
			logger.debug("The end of a " + what + " is not known", ex);
			return ReleaseOutcome.UNKNOWN;
		}
	}

	@Override
	public void check(Duration timeout) {
		Probe probe;
		try {
			probe = this.calls.call(CallKind.ACQUIRE, timeout, (connection, dialect) -> dialect.probe(connection));
		}
		catch (SQLException ex) {
			if (SqlErrors.classify(ex) == LockError.TABLE_MISSING) {
				throw tableMissing(ex);
			}
			throw translate(ex);
		}
		if (probe.format() > FORMAT) {
			throw new LockConfigurationException(LockError.NEWER_FORMAT,
					"The table '" + this.settings.table() + "' has format " + probe.format()
							+ ", but this version knows formats up to " + FORMAT,
					"Upgrade this application: two formats side by side would not exclude each other");
		}
		if (probe.clock() <= 0 || probe.clock() > FencingToken.MAX_ORDER) {
			throw new LockProviderException(LockError.STORE_FAILED, name(),
					"has a clock from which no fencing token can be made: " + probe.clock() + " µs since 1970", null);
		}
	}

	private LockConfigurationException tableMissing(SQLException cause) {
		Dialect dialect = this.calls.knownDialect();
		return new LockConfigurationException(LockError.TABLE_MISSING,
				"The lock table '" + this.settings.table() + "' is missing, or has not the expected columns",
				"Create it, or let distributed-lock.jdbc.initialize-schema=always do so"
						+ ((dialect != null) ? ":\n\n" + dialect.schema() : ""),
				cause);
	}

	private LockProviderException translate(SQLException ex) {
		return SqlErrors.translate(ex, this.settings.table(), this.calls.knownDialect());
	}

	/**
	 * Stops the sweeper and the listener, and closes the locks' own pool. Calls under way
	 * are not waited for.
	 */
	@Override
	public void close() {
		this.sweeper.stop();
		this.listener.close();
		this.calls.close();
		this.dataSource.close();
	}

}
