package io.distributedlock.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.Dialect.Renewal;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockInspector;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.provider.StoredLock;

/**
 * Provider that keeps locks in a table of a database: one row per key, all times from the
 * database's clock. The package description has the recipe.
 * <p>
 * A database that cannot answer leads to a {@link LockProviderException}, never to a busy
 * lock. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class JdbcLockProvider implements LockProvider, LockInspector, AutoCloseable {

	private final LockDataSource dataSource;

	private final LockKeyEncoder keys;

	private final SqlCallExecutor calls;

	private final LockTable table;

	private final NotificationListener listener;

	private final LockTimer timer;

	private final Sweeper sweeper;

	private final TableCheck tableCheck;

	private final LockRowInspector inspector;

	/**
	 * Creates a provider and starts its sweeper. Does not call the database yet.
	 * @param dataSource the source of connections, closed with the provider
	 * @param settings the settings
	 * @param timer the timer of the sweeper and of time-outs; must outlive the provider
	 */
	public JdbcLockProvider(LockDataSource dataSource, JdbcLockSettings settings, LockTimer timer) {
		this.dataSource = dataSource;
		this.keys = new LockKeyEncoder(settings.keyPrefix());
		this.timer = timer;
		this.calls = new SqlCallExecutor(dataSource.connections(), settings.table(), timer);
		this.table = new LockTable(this.calls, settings.table());
		this.listener = new NotificationListener(dataSource.connections(), this.calls);
		this.tableCheck = new TableCheck(this.table, settings.table(), this::checkPooler);
		this.inspector = new LockRowInspector(this.calls, settings.table(), this.keys);
		this.sweeper = new Sweeper(this.calls, settings.retention(), timer, this.table.process(), this.table.holder());
		this.sweeper.start();
	}

	/** The listener warns at start if notifications do not arrive through a pooler. */
	private void checkPooler(Duration timeout) {
		if (this.table.isPooled(timeout)) {
			this.listener.start();
		}
	}

	@Override
	public String name() {
		return SqlErrors.PROVIDER;
	}

	@Override
	public boolean isBlocking() {
		return true;
	}

	String process() {
		return this.table.process();
	}

	Sweeper sweeper() {
		return this.sweeper;
	}

	NotificationListener listener() {
		return this.listener;
	}

	@Override
	public LockContender newContender(LockKey key, Runnable onNotified) {
		return new JdbcContender(this.table, this.tableCheck, this.listener, key, this.keys.encode(key),
				new PollSignal(this.timer, onNotified));
	}

	@Override
	public StoreCall<Map<LockGrant, RenewalOutcome>> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		return AnsweredStoreCall.by(() -> renewAll(leases, timeout));
	}

	private Map<LockGrant, RenewalOutcome> renewAll(Map<LockGrant, Duration> leases, Duration timeout) {
		List<LockGrant> grants = new ArrayList<>(leases.size());
		List<Renewal> renewals = new ArrayList<>(leases.size());
		leases.forEach((grant, lease) -> {
			grants.add(grant);
			renewals.add(new Renewal(this.keys.encode(grant.key()), grant.owner().text(),
					TimeUnit.NANOSECONDS.toMicros(lease.toNanos())));
		});
		List<RenewalOutcome> answers = this.table.renew(renewals, timeout);
		Map<LockGrant, RenewalOutcome> outcomes = new HashMap<>();
		for (int i = 0; i < grants.size(); i++) {
			outcomes.put(grants.get(i), answers.get(i));
		}
		return outcomes;
	}

	@Override
	public boolean supportsMinHold() {
		return true;
	}

	@Override
	public StoreCall<ReleaseOutcome> release(LockKey key, OwnerId owner, Duration keepFor, Duration timeout) {
		return AnsweredStoreCall.by(() -> this.table.release(this.keys.encode(key), owner.text(),
				TimeUnit.NANOSECONDS.toMicros(keepFor.toNanos()), timeout));
	}

	/**
	 * Checks the database, and until that has succeeded once also the table and the
	 * rights.
	 */
	@Override
	public void check(Duration timeout) {
		this.tableCheck.run(timeout);
	}

	/**
	 * Checks that the database answers, and would accept writes to the table, by
	 * statements that match no row.
	 */
	@Override
	public void probe(Duration timeout) {
		this.tableCheck.probe(timeout);
	}

	@Override
	public Optional<StoredLock> find(LockKey key, Duration timeout) {
		return this.inspector.find(key, timeout);
	}

	/**
	 * Lists the locks with this key prefix. Free rows between them, which the sweeper has
	 * not deleted yet, are read too.
	 */
	@Override
	public Optional<List<StoredLock>> list(int limit, Duration timeout) {
		return Optional.of(this.inspector.list(limit, timeout));
	}

	/** Releases a row lock of another process too, as its holder does. */
	@Override
	public ReleaseOutcome forceRelease(LockKey key, StoredLock lock, Duration timeout) {
		if (lock.owner() == null) {
			return ReleaseOutcome.NOT_HELD;
		}
		Deadline deadline = Deadline.after(timeout);
		String owner = lock.owner().text();
		ReleaseOutcome outcome = this.table.release(this.keys.encode(key), owner, 0, timeout);
		return (outcome != ReleaseOutcome.NOT_HELD) ? outcome
				: this.table.release(this.keys.encode(key), LockRow.ROW + owner, 0, deadline.remaining());
	}

	/**
	 * Stops the sweeper and the listener, and closes the locks' own pool. Does not wait
	 * for calls under way.
	 */
	@Override
	public void close() {
		this.sweeper.stop();
		this.listener.close();
		this.calls.close();
		this.dataSource.close();
	}

}
