package com.example.maplock;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;

/**
 * Provider of one process over a {@link MapStore}.
 */
public final class MapLockProvider implements LockProvider {

	private final MapStore store;

	public MapLockProvider(MapStore store) {
		this.store = store;
	}

	@Override
	public String name() {
		return "map";
	}

	@Override
	public LockContender newContender(LockKey key, Runnable onNotified) {
		MapContender contender = new MapContender(this, onNotified);
		return new LockContender() {

			@Override
			public AttemptResult attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
				return MapLockProvider.this.store.attempt(key, owner, lease, contender, willWait);
			}

			@Override
			public ReleaseOutcome withdraw(Duration timeout) {
				MapLockProvider.this.store.withdraw(key, contender);
				return ReleaseOutcome.RELEASED;
			}

		};
	}

	@Override
	public Map<LockGrant, RenewalOutcome> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		Map<LockGrant, RenewalOutcome> outcomes = new HashMap<>();
		leases.forEach((grant, lease) -> outcomes.put(grant, this.store.renew(grant.key(), grant.owner(), lease)
				? RenewalOutcome.RENEWED : RenewalOutcome.NOT_HELD));
		return outcomes;
	}

	@Override
	public ReleaseOutcome release(LockKey key, OwnerId owner, Duration timeout) {
		return this.store.release(key, owner) ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD;
	}

	@Override
	public void check(Duration timeout) {
	}

}
