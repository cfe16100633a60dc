package io.distributedlock.testkit;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Process of a contract test: a provider that receives single commands, and an engine
 * over it. A test creates as many as it needs by {@link LockProviderContract#process()};
 * a provider's own tests in a subclass of the contract may use it too.
 */
public final class ContractProcess implements AutoCloseable {

	static final Duration LEASE = Duration.ofSeconds(30);

	static final Duration TIMEOUT = Duration.ofSeconds(5);

	/** Whether the engines under test hand locks off. */
	static final boolean HANDS_OFF = Boolean
		.parseBoolean(System.getProperty("distributed-lock.contract.hand-off", "true"));

	private final Map<LockKey, LockContender> contenders = new ConcurrentHashMap<>();

	private final Map<LockKey, Map<Integer, LockContender>> shareContenders = new ConcurrentHashMap<>();

	private final LockTimer timer = new LockTimer();

	private final CountingLockProvider provider;

	private final LockSettings settings;

	private @Nullable LockTemplate template;

	ContractProcess(CountingLockProvider provider, Duration callTimeout) {
		this.provider = provider;
		LockSettings usual = LockSettings.defaults().withCallTimeout(callTimeout);
		this.settings = HANDS_OFF ? usual : usual.withMaxHandOffTime(null);
	}

	CountingLockProvider provider() {
		return this.provider;
	}

	/**
	 * Returns the engine of this process.
	 * @return the engine, the same one for each call
	 */
	public synchronized LockTemplate locks() {
		if (this.template == null) {
			this.template = new LockTemplate(this.provider, this.settings, this.timer, List.of(), List.of());
		}
		return this.template;
	}

	/** Returns an engine whose calls may take for longer than usual. */
	synchronized LockTemplate locks(Duration callTimeout) {
		assertThat(this.template).isNull();
		this.template = new LockTemplate(this.provider, this.settings.withCallTimeout(callTimeout), this.timer,
				List.of(), List.of());
		return this.template;
	}

	synchronized LockTemplate locks(LockRecorder recorder) {
		assertThat(this.template).isNull();
		this.template = new LockTemplate(this.provider, this.settings, this.timer, List.of(recorder),
				List.of(recorder));
		return this.template;
	}

	/**
	 * Sends one attempt with a fresh owner that does not wait.
	 * @param key the key
	 * @return the store's answer
	 */
	public AttemptResult attempt(LockKey key) {
		return attempt(key, OwnerId.random(), LEASE, false);
	}

	AttemptResult attempt(LockKey key, OwnerId owner, Duration lease, boolean willWait) {
		return StoreCalls.resultOf(contender(key).attempt(owner, lease, willWait, TIMEOUT), TIMEOUT);
	}

	private LockContender contender(LockKey key) {
		return this.contenders.computeIfAbsent(key, (k) -> this.provider.newContender(k, () -> {
			// Signals are hints: the contract repeats its attempts by itself.
		}));
	}

	/** Sends one attempt for a share with a fresh owner. */
	AttemptResult attemptShare(LockKey key, int limit, boolean willWait) {
		return attemptShare(key, limit, OwnerId.random().ofShare(true), LEASE, willWait);
	}

	AttemptResult attemptShare(LockKey key, int limit, OwnerId owner, Duration lease, boolean willWait) {
		return StoreCalls.resultOf(shareContender(key, limit).attempt(owner, lease, willWait, TIMEOUT), TIMEOUT);
	}

	private LockContender shareContender(LockKey key, int limit) {
		return this.shareContenders.computeIfAbsent(key, (k) -> new ConcurrentHashMap<>())
			.computeIfAbsent(limit, (number) -> this.provider.newShareContender(key, number, () -> {
				// Signals are hints: the contract repeats its attempts by itself.
			}));
	}

	/** Acquires a share by one attempt; fails if it is busy. */
	LockGrant acquireShare(LockKey key, int limit) {
		return granted(attemptShare(key, limit, false));
	}

	/** Returns whether one attempt without a wait finds no share free. */
	boolean isShareBusy(LockKey key, int limit) {
		return attemptShare(key, limit, false) instanceof AttemptResult.Busy;
	}

	/** Joins the wait queue for a share; fails if one is free. */
	void enqueueShare(LockKey key, int limit) {
		busy(attemptShare(key, limit, true));
	}

	/** Withdraws this process's entry for shares from the wait queue of a key. */
	ReleaseOutcome withdrawShare(LockKey key, int limit) {
		return StoreCalls.outcomeOf(shareContender(key, limit).withdraw(TIMEOUT), TIMEOUT);
	}

	/**
	 * Acquires a key by one attempt with a lease of 30 seconds; fails if it is busy.
	 * @param key the key
	 * @return the grant
	 */
	public LockGrant acquire(LockKey key) {
		return acquire(key, LEASE);
	}

	/**
	 * Acquires a key by one attempt; fails if it is busy.
	 * @param key the key
	 * @param lease the lease
	 * @return the grant
	 */
	public LockGrant acquire(LockKey key, Duration lease) {
		return granted(attempt(key, OwnerId.random(), lease, false));
	}

	static LockGrant granted(AttemptResult attempt) {
		assertThat(attempt).isInstanceOf(AttemptResult.Granted.class);
		return ((AttemptResult.Granted) attempt).grant();
	}

	static AttemptResult.Busy busy(AttemptResult attempt) {
		assertThat(attempt).isInstanceOf(AttemptResult.Busy.class);
		return (AttemptResult.Busy) attempt;
	}

	/**
	 * Returns whether one attempt finds the key busy. If not, this process holds the key
	 * afterwards.
	 * @param key the key
	 * @return whether the key is busy
	 */
	public boolean isBusy(LockKey key) {
		return attempt(key) instanceof AttemptResult.Busy;
	}

	/**
	 * Joins the wait queue of a key by one attempt; fails if the key is free.
	 * @param key a key that is held
	 * @return the busy answer
	 */
	public AttemptResult.Busy enqueue(LockKey key) {
		return busy(attempt(key, OwnerId.random(), LEASE, true));
	}

	/**
	 * Withdraws this process's entry from the wait queue of a key.
	 * @param key the key
	 * @return the store's answer
	 */
	public ReleaseOutcome withdraw(LockKey key) {
		return StoreCalls.outcomeOf(contender(key).withdraw(TIMEOUT), TIMEOUT);
	}

	/**
	 * Releases a grant.
	 * @param grant the grant
	 * @return the store's answer
	 */
	public ReleaseOutcome release(LockGrant grant) {
		return StoreCalls.outcomeOf(this.provider.release(grant.key(), grant.owner(), TIMEOUT), TIMEOUT);
	}

	/**
	 * Releases a grant, and lets the store keep its key.
	 * @param grant the grant
	 * @param keepFor for how long the store keeps the key from now on
	 * @return the store's answer
	 */
	public ReleaseOutcome release(LockGrant grant, Duration keepFor) {
		return StoreCalls.outcomeOf(this.provider.release(grant.key(), grant.owner(), keepFor, TIMEOUT), TIMEOUT);
	}

	/**
	 * Renews a grant for 30 seconds.
	 * @param grant the grant
	 * @return the store's answer
	 */
	public RenewalOutcome renew(LockGrant grant) {
		return renew(grant, LEASE);
	}

	/**
	 * Renews a grant.
	 * @param grant the grant
	 * @param lease the new lease, from now on
	 * @return the store's answer
	 */
	public RenewalOutcome renew(LockGrant grant, Duration lease) {
		return renew(Map.of(grant, lease)).getOrDefault(grant, RenewalOutcome.UNKNOWN);
	}

	Map<LockGrant, RenewalOutcome> renew(Map<LockGrant, Duration> leases) {
		return StoreCalls.resultOf(this.provider.renew(leases, TIMEOUT), TIMEOUT);
	}

	@Override
	public synchronized void close() {
		if (this.template != null) {
			this.template.close();
		}
		this.contenders.values().forEach(LockContender::close);
		this.shareContenders.values().forEach((all) -> all.values().forEach(LockContender::close));
		this.timer.close();
	}

}
