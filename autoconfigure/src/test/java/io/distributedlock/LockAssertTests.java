package io.distributedlock;

import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.local.NoLockProvider;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class LockAssertTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	private final LockTimer timer = new LockTimer();

	private final LockTemplate locks = new LockTemplate(new LocalLockProvider(), LockSettings.defaults(), this.timer,
			List.of(), List.of());

	@AfterEach
	void close() {
		this.locks.close();
		this.timer.close();
	}

	private static void assertRefused(Runnable assertion, String... parts) {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(assertion::run).satisfies((ex) -> {
			assertThat(ex.error()).isEqualTo(LockError.NOT_LOCKED);
			assertThat(ex.id()).isEqualTo("DL-621");
		}).withMessageContainingAll(parts);
	}

	@Test
	void threadWithoutALockIsRefused() {
		assertRefused(LockAssert::assertHeld, "does not run under a lock.", "through its Spring proxy");
		assertRefused(() -> LockAssert.assertHeld("orders"), "a lock named 'orders'");
		assertRefused(() -> LockAssert.assertHeld(KEY), "lock 'orders:42'");
	}

	@Test
	void bodyUnderItsLockPasses() {
		this.locks.execute(LockRequest.of(KEY), (lease) -> {
			LockAssert.assertHeld();
			LockAssert.assertHeld("orders");
			LockAssert.assertHeld(KEY);
			this.locks.execute(LockRequest.of(LockKey.of("inner")), (inner) -> {
				LockAssert.assertHeld(KEY);
				return null;
			});
			return null;
		});
	}

	@Test
	void shareIsNoExclusiveLock() {
		LockRequest request = LockRequest.of(KEY);
		this.locks.executeWithoutResult(request.shared(), (lease) -> {
			LockAssert.assertHeld(KEY, LockMode.SHARED);
			assertRefused(() -> LockAssert.assertHeld(KEY, LockMode.EXCLUSIVE),
					"lock 'orders:42' in the mode EXCLUSIVE, but under [orders:42 in the mode SHARED]");
			LockAssert.assertHeld("orders", LockMode.SHARED);
			assertRefused(() -> LockAssert.assertHeld("orders", LockMode.PERMIT),
					"a lock named 'orders' in the mode PERMIT");
		});
		this.locks.executeWithoutResult(request, (lease) -> LockAssert.assertHeld(KEY, LockMode.SHARED));
	}

	@Test
	void otherLockIsRefused() {
		this.locks.execute(LockRequest.of(LockKey.of("orders", "7")), (lease) -> {
			assertRefused(() -> LockAssert.assertHeld(KEY), "but under [orders:7]");
			assertRefused(() -> LockAssert.assertHeld("refunds"), "but under [orders:7]");
			return null;
		});
	}

	@Test
	void lostLockIsTold() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.locks.execute(LockRequest.of(KEY), (lease) -> {
				this.locks.forceRelease(KEY);
				LockAssert.assertHeld("orders");
				throw new IllegalStateException("The assertion has passed");
			}))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.LOST));
	}

	@Test
	void closedLockIsRefused() {
		this.locks.execute(LockRequest.of(KEY), (lease) -> {
			lease.close();
			assertRefused(LockAssert::assertHeld, "does not run under a lock.");
			return null;
		});
	}

	@Test
	void bodyWithoutLockingPasses() {
		try (LockTemplate none = new LockTemplate(new NoLockProvider(), LockSettings.defaults(), this.timer, List.of(),
				List.of())) {
			none.execute(LockRequest.of(KEY), (lease) -> {
				LockAssert.assertHeld(KEY);
				return null;
			});
		}
	}

}
