package io.distributedlock.support;

import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.LockProvider;
import io.distributedlock.LockProvider.Attempt;
import io.distributedlock.LockProvider.Grant;
import io.distributedlock.LockProvider.ReleaseOutcome;
import io.distributedlock.LockProvider.RenewalOutcome;
import io.distributedlock.OwnerId;

import static org.assertj.core.api.Assertions.assertThat;

class NoLockProviderTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final LockKey KEY = LockKey.of("none");

	private static Grant take(LockProvider provider) {
		return ((Attempt.Granted) provider.enter(KEY, () -> {
			// Nothing to wait for.
		}).attempt(OwnerId.random(), SECOND, true, SECOND)).grant();
	}

	@Test
	void everybodyIsGrantedTheSameKeyWithRisingOrders() {
		LockProvider provider = new NoLockProvider();
		Grant first = take(provider);
		Grant second = take(provider);
		assertThat(second.order()).isGreaterThan(first.order());
		assertThat(take(new NoLockProvider()).order()).isGreaterThan(first.order());
		assertThat(first.validity()).isEqualTo(SECOND);
	}

	@Test
	void everyRenewalAndReleaseSucceeds() {
		LockProvider provider = new NoLockProvider();
		Grant grant = take(provider);
		provider.check(SECOND);
		assertThat(provider.name()).isEqualTo("none");
		assertThat(provider.renew(Map.of(grant, SECOND), SECOND))
			.containsOnly(Map.entry(grant, RenewalOutcome.RENEWED));
		assertThat(provider.release(KEY, grant.owner(), SECOND)).isEqualTo(ReleaseOutcome.RELEASED);
	}

}
