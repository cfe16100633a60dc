package io.distributedlock.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockMode;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.jdbc.dialect.Dialect.Renewal;
import io.distributedlock.jdbc.dialect.LockRow;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * Provider that keeps locks in a table of a database: one row per key, all times from the
 * database's clock. The package description has the recipe.
 * <p>
 * A database that cannot answer leads to a {@link LockProviderException}, never to a busy
 * lock. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class JdbcLockProvider extends TableLockProvider {

	private final NotificationListener listener;

	private final LockTimer timer;

	/**
	 * Creates a provider and starts its sweeper. Does not call the database yet.
	 * @param dataSource the source of connections, closed with the provider
	 * @param settings the settings
	 * @param timer the timer of the sweeper and of time-outs; must outlive the provider
	 */
	public JdbcLockProvider(LockDataSource dataSource, JdbcLockSettings settings, LockTimer timer) {
		super(dataSource, settings, timer);
		this.timer = timer;
		this.listener = new NotificationListener(dataSource.connections(), calls());
		sweeper().start();
	}

	/** The listener warns at start if notifications do not arrive through a pooler. */
	@Override
	public void checkServer(Duration timeout) {
		if (table().isPooled(timeout)) {
			this.listener.start();
		}
	}

	NotificationListener listener() {
		return this.listener;
	}

	@Override
	public LockContender newContender(LockKey key, Runnable onNotified) {
		return newShareContender(key, 0, onNotified);
	}

	@Override
	public boolean supports(LockMode mode) {
		return true;
	}

	@Override
	public LockContender newShareContender(LockKey key, int limit, Runnable onNotified) {
		return new JdbcContender(table(), tableCheck(), this.listener, key, keys().encode(key), limit,
				new PollSignal(this.timer, onNotified));
	}

	@Override
	public StoreCall<Map<LockGrant, RenewalOutcome>> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		return AnsweredStoreCall.by(() -> renewAll(leases, timeout));
	}

	private Map<LockGrant, RenewalOutcome> renewAll(Map<LockGrant, Duration> leases, Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		Map<LockGrant, RenewalOutcome> outcomes = new HashMap<>();
		LockException failure = null;
		for (boolean shares : List.of(false, true)) {
			try {
				renewAll(leases, shares, deadline, outcomes);
			}
			catch (LockException ex) {
				// What the other statements have renewed stays renewed.
				failure = ex;
			}
		}
		if (failure != null && outcomes.isEmpty()) {
			throw failure;
		}
		return outcomes;
	}

	private void renewAll(Map<LockGrant, Duration> leases, boolean shares, Deadline deadline,
			Map<LockGrant, RenewalOutcome> outcomes) {
		List<LockGrant> grants = new ArrayList<>(leases.size());
		List<Renewal> renewals = new ArrayList<>(leases.size());
		leases.forEach((grant, lease) -> {
			if (grant.owner().isShare() == shares) {
				grants.add(grant);
				renewals.add(new Renewal(keys().encode(grant.key()), LockRow.heldBy(grant.owner()),
						TimeUnit.NANOSECONDS.toMicros(lease.toNanos())));
			}
		});
		List<RenewalOutcome> answers = renewals.isEmpty() ? List.of() : table().renew(renewals, deadline.remaining());
		for (int i = 0; i < answers.size(); i++) {
			outcomes.put(grants.get(i), answers.get(i));
		}
	}

	@Override
	public boolean supportsMinHold() {
		return true;
	}

	@Override
	public ReleaseOutcome releaseOwn(LockKey key, OwnerId owner, Duration keepFor, Duration timeout) {
		return table().release(keys().encode(key), LockRow.heldBy(owner),
				TimeUnit.NANOSECONDS.toMicros(keepFor.toNanos()), timeout);
	}

	@Override
	public String otherOwner(OwnerId owner) {
		return LockRow.lockedBy(owner);
	}

	/**
	 * Stops the sweeper and the listener, and closes the locks' own pool. Does not wait
	 * for calls under way.
	 */
	@Override
	public void close() {
		this.listener.close();
		super.close();
	}

}
