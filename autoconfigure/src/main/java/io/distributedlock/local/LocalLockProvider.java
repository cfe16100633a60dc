package io.distributedlock.local;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

import io.distributedlock.LockKey;
import io.distributedlock.LockMode;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockInspector;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ProcessLabel;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.provider.StoredLock;

/**
 * A provider that keeps locks in the memory of this JVM, for tests and for programs that
 * run in one JVM only. Follows the same rules as a store in the network: leases expire,
 * and a release reserves the lock for the process that has waited longest.
 * <p>
 * Each provider acts as a process of its own. Its store is never down: time-outs have no
 * effect, and no outcome is unclear. Fencing tokens rise, also across a restart, as long
 * as the machine's date is not set back. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class LocalLockProvider implements LockProvider, LockInspector {

	private final OwnerId process = OwnerId.random();

	private final AtomicLong contenders = new AtomicLong();

	private final LocalStore store;

	/** Creates a provider over a store of its own. */
	public LocalLockProvider() {
		this(new LocalStore());
	}

	/**
	 * Creates a provider that acts as one of several processes.
	 * @param store the store that the processes share
	 */
	public LocalLockProvider(LocalStore store) {
		this.store = store;
	}

	@Override
	public String name() {
		return "local";
	}

	@Override
	public boolean isBlocking() {
		return false;
	}

	@Override
	public boolean supports(LockMode mode) {
		return true;
	}

	@Override
	public LockContender newContender(LockKey key, Runnable onNotified) {
		return newContender(key, new LocalContender(this.process, 0), onNotified);
	}

	@Override
	public LockContender newShareContender(LockKey key, int limit, Runnable onNotified) {
		return newContender(key, new LocalContender(this.process, limit), onNotified);
	}

	private LockContender newContender(LockKey key, LocalContender self, Runnable onNotified) {
		LocalStore shared = this.store;
		long number = this.contenders.incrementAndGet();
		return new LockContender() {

			@Override
			public StoreCall<AttemptResult> attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
				return AnsweredStoreCall.of(shared.attempt(
						new LocalAttempt(key, owner, lease, self, ProcessLabel.get(), number, willWait, onNotified)));
			}

			@Override
			public StoreCall<ReleaseOutcome> withdraw(Duration timeout) {
				return AnsweredStoreCall.of(shared.withdraw(key, self, number));
			}

		};
	}

	@Override
	public StoreCall<Map<LockGrant, RenewalOutcome>> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		Map<LockGrant, RenewalOutcome> outcomes = new LinkedHashMap<>(leases.size() * 2);
		leases.forEach((grant, lease) -> outcomes.put(grant, this.store.renew(grant.key(), grant.owner(), lease)
				? RenewalOutcome.RENEWED : RenewalOutcome.NOT_HELD));
		return AnsweredStoreCall.of(outcomes);
	}

	@Override
	public boolean supportsMinHold() {
		return true;
	}

	@Override
	public StoreCall<ReleaseOutcome> release(LockKey key, OwnerId owner, Duration keepFor, Duration timeout) {
		return AnsweredStoreCall.of(this.store.release(key, owner, keepFor));
	}

	@Override
	public void check(Duration timeout) {
	}

	@Override
	public Optional<StoredLock> find(LockKey key, Duration timeout) {
		return this.store.find(key).stream().findFirst();
	}

	@Override
	public List<StoredLock> findAll(LockKey key, Duration timeout) {
		return this.store.find(key);
	}

	@Override
	public Optional<List<StoredLock>> list(int limit, Duration timeout) {
		return Optional.of(this.store.list(limit));
	}

	@Override
	public ReleaseOutcome forceRelease(LockKey key, StoredLock lock, Duration timeout) {
		return (lock.owner() != null) ? this.store.release(key, lock.owner(), Duration.ZERO) : ReleaseOutcome.NOT_HELD;
	}

	/**
	 * Ends the lease of a key in the store at once, as if its time had run out. Meant for
	 * tests of lost locks: the holder loses the lock with its next renewal, and no waiter
	 * is signalled.
	 * @param key the key
	 * @return whether the key was held
	 */
	public boolean expire(LockKey key) {
		return this.store.expire(key);
	}

}
