package io.distributedlock.local;

import java.time.Duration;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.testkit.LockProviderContract;
import io.distributedlock.testkit.LockProviderFixture;

import static org.assertj.core.api.Assertions.assertThat;

class LocalLockProviderContractTests extends LockProviderContract {

	@Override
	protected LockProviderFixture createFixture() {
		return new LocalFixture();
	}

	private static final class LocalFixture implements LockProviderFixture {

		private final LocalStore store = new LocalStore();

		@Override
		public LockProvider newProcess() {
			return new LocalLockProvider(this.store);
		}

		@Override
		public void expire(LockKey key) {
			assertThat(new LocalLockProvider(this.store).expire(key)).isTrue();
		}

		@Override
		public long heldEntries() {
			return this.store.size();
		}

		@Override
		public Duration pollBound() {
			return Duration.ofSeconds(1);
		}

		@Override
		public void close() {
			// The store goes with the fixture.
		}

	}

}
