package io.distributedlock.local;

import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;

import static org.assertj.core.api.Assertions.assertThat;

class NoLockProviderTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final LockKey KEY = LockKey.of("none");

	private static LockGrant take(LockProvider provider) {
		return ((AttemptResult.Granted) provider.enter(KEY, () -> {
			// Nothing to wait for.
		}).attempt(OwnerId.random(), SECOND, true, SECOND)).grant();
	}

	@Test
	void everybodyIsGrantedTheSameKeyWithRisingOrders() {
		LockProvider provider = new NoLockProvider();
		LockGrant first = take(provider);
		LockGrant second = take(provider);
		assertThat(second.order()).isGreaterThan(first.order());
		assertThat(take(new NoLockProvider()).order()).isGreaterThan(first.order());
		assertThat(first.validity()).isEqualTo(SECOND);
	}

	@Test
	void everyRenewalAndReleaseSucceeds() {
		LockProvider provider = new NoLockProvider();
		LockGrant grant = take(provider);
		provider.check(SECOND);
		assertThat(provider.name()).isEqualTo("none");
		assertThat(provider.renew(Map.of(grant, SECOND), SECOND))
			.containsOnly(Map.entry(grant, RenewalOutcome.RENEWED));
		assertThat(provider.release(KEY, grant.owner(), SECOND)).isEqualTo(ReleaseOutcome.RELEASED);
	}

}
