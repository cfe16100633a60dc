package io.distributedlock.local;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import io.distributedlock.FencingToken;
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

	private static LockGrant acquire(LockProvider provider) {
		return ((AttemptResult.Granted) provider.newContender(KEY, () -> {
			// Nothing to wait for.
		}).attempt(OwnerId.random(), SECOND, true, SECOND).result()).grant();
	}

	@Test
	void everyAttemptIsGrantedAlsoWhileTheKeyIsHeld() {
		LockProvider provider = new NoLockProvider();
		LockGrant first = acquire(provider);
		assertThat(first.validity()).isEqualTo(SECOND);
		assertThat(acquire(provider).owner()).isNotEqualTo(first.owner());
		assertThat(provider.isExclusive()).isFalse();
	}

	@Test
	void ordersFollowTheClockAndRiseWithoutIt() {
		AtomicLong micros = new AtomicLong(1_800_000_000_000_000L);
		LockProvider provider = new NoLockProvider(micros::get);
		long first = acquire(provider).order();
		assertThat(first).isEqualTo(1_800_000_000_000_000L);
		assertThat(acquire(provider).order()).isEqualTo(first + 1);
		micros.addAndGet(-1_000_000);
		assertThat(acquire(provider).order()).isEqualTo(first + 2);
		micros.addAndGet(5_000_000);
		assertThat(acquire(provider).order()).isEqualTo(first + 4_000_000);
	}

	@Test
	void ordersBeginAfterThoseOfAStoreThatCountsMicroseconds() {
		long micros = System.currentTimeMillis() * 1000;
		assertThat(acquire(new NoLockProvider()).order()).isBetween(micros,
				micros + Duration.ofHours(1).toNanos() / 1000);
	}

	@Test
	void orderFitsAFencingTokenWhateverTheClockSays() {
		LockProvider provider = new NoLockProvider(() -> Long.MAX_VALUE);
		assertThat(acquire(provider).order()).isLessThan(acquire(provider).order()).isLessThan(FencingToken.MAX_ORDER);
	}

	@Test
	void everyRenewalAndReleaseSucceeds() {
		LockProvider provider = new NoLockProvider();
		LockGrant grant = acquire(provider);
		provider.check(SECOND);
		assertThat(provider.name()).isEqualTo("none");
		assertThat(provider.renew(Map.of(grant, SECOND), SECOND).result())
			.containsOnly(Map.entry(grant, RenewalOutcome.RENEWED));
		assertThat(provider.release(KEY, grant.owner(), SECOND).result()).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(provider.isBlocking()).isFalse();
	}

}
