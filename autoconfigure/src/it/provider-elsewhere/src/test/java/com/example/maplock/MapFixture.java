package com.example.maplock;

import java.time.Duration;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.testkit.LockProviderFixture;

import static org.assertj.core.api.Assertions.assertThat;

final class MapFixture implements LockProviderFixture {

	private final MapStore store = new MapStore();

	@Override
	public LockProvider newProcess() {
		return new MapLockProvider(this.store);
	}

	@Override
	public void expire(LockKey key) {
		assertThat(this.store.expire(key)).isTrue();
	}

	@Override
	public long heldEntries() {
		return this.store.size();
	}

	@Override
	public Duration pollBound() {
		return MapStore.POLL_BOUND;
	}

	@Override
	public void close() {
		// The store ends with the fixture.
	}

}
