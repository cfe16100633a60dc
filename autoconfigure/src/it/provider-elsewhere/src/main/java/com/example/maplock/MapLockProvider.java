package com.example.maplock;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * Provider of one process over a {@link MapStore}, which answers at once: each call is
 * done when it is returned.
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
	public boolean isBlocking() {
		return false;
	}

	@Override
	public LockContender newContender(LockKey key, Runnable onNotified) {
		MapContender contender = new MapContender(this, onNotified);
		return new LockContender() {

			@Override
			public StoreCall<AttemptResult> attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
				return AnsweredStoreCall.of(MapLockProvider.this.store.attempt(key, owner, lease, contender, willWait));
			}

			@Override
			public StoreCall<ReleaseOutcome> withdraw(Duration timeout) {
				MapLockProvider.this.store.withdraw(key, contender);
				return AnsweredStoreCall.of(ReleaseOutcome.RELEASED);
			}

		};
	}

	@Override
	public StoreCall<Map<LockGrant, RenewalOutcome>> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		Map<LockGrant, RenewalOutcome> outcomes = new HashMap<>();
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
		boolean released = this.store.release(key, owner, keepFor);
		return AnsweredStoreCall.of(released ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD);
	}

	@Override
	public void check(Duration timeout) {
	}

}
