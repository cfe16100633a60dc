package io.distributedlock.testkit;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.distributedlock.LockKey;
import io.distributedlock.LockRequest;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.support.LockSettings;
import io.distributedlock.support.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One process of a contract test: its provider, spoken to directly as the engine does,
 * and its engine.
 */
final class ContractProcess implements AutoCloseable {

	static final Duration LEASE = Duration.ofSeconds(30);

	static final Duration TIMEOUT = Duration.ofSeconds(5);

	private final Map<LockKey, LockContender> contenders = new ConcurrentHashMap<>();

	private final LockTimer timer = new LockTimer();

	private final CountingLockProvider provider;

	private LockTemplate template;

	ContractProcess(CountingLockProvider provider) {
		this.provider = provider;
	}

	CountingLockProvider provider() {
		return this.provider;
	}

	synchronized LockTemplate locks() {
		if (this.template == null) {
			this.template = new LockTemplate(this.provider, LockSettings.defaults(), this.timer, List.of(), List.of());
		}
		return this.template;
	}

	LockTemplate locks(LockRecorder recorder) {
		assertThat(this.template).isNull();
		this.template = new LockTemplate(this.provider, LockSettings.defaults(), this.timer, List.of(recorder),
				List.of(recorder));
		return this.template;
	}

	static LockRequest request(LockKey key) {
		return LockRequest.of(key);
	}

	AttemptResult attempt(LockKey key, OwnerId owner, Duration lease, boolean willWait) {
		return this.contenders.computeIfAbsent(key, (k) -> this.provider.enter(k, () -> {
			// Signals are hints: the contract asks again by itself.
		})).attempt(owner, lease, willWait, TIMEOUT);
	}

	AttemptResult attempt(LockKey key) {
		return attempt(key, OwnerId.random(), LEASE, false);
	}

	LockGrant acquire(LockKey key) {
		return acquire(key, LEASE);
	}

	LockGrant acquire(LockKey key, Duration lease) {
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

	boolean isBusy(LockKey key) {
		return attempt(key) instanceof AttemptResult.Busy;
	}

	AttemptResult.Busy enqueue(LockKey key) {
		return busy(attempt(key, OwnerId.random(), LEASE, true));
	}

	ReleaseOutcome withdraw(LockKey key) {
		return this.contenders.computeIfAbsent(key, (k) -> this.provider.enter(k, () -> {
			// Nobody waits here any more.
		})).withdraw(TIMEOUT);
	}

	ReleaseOutcome release(LockGrant grant) {
		return this.provider.release(grant.key(), grant.owner(), TIMEOUT);
	}

	RenewalOutcome renew(LockGrant grant) {
		return renew(grant, LEASE);
	}

	RenewalOutcome renew(LockGrant grant, Duration lease) {
		return this.provider.renew(Map.of(grant, lease), TIMEOUT).getOrDefault(grant, RenewalOutcome.UNKNOWN);
	}

	@Override
	public synchronized void close() {
		if (this.template != null) {
			this.template.close();
		}
		this.timer.close();
	}

}
