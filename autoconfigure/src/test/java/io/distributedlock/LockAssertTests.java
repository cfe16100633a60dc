package io.distributedlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.local.NoLockProvider;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.support.LockSettings;
import io.distributedlock.support.LockTemplate;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests of {@link LockAssert}.
 */
class LockAssertTests {

	private static final String ADVICE = ". Call the method through the bean that Spring injects, not on 'this',"
			+ " or run it by LockOperations.execute";

	private final LockKey key = LockKey.of("orders", "42");

	private final LockTimer timer = new LockTimer();

	private final LockTemplate locks = locks(new LocalLockProvider());

	private LockTemplate locks(LockProvider provider) {
		return new LockTemplate(provider, LockSettings.defaults(), this.timer, List.of(), List.of());
	}

	@AfterEach
	void close() {
		this.locks.close();
		this.timer.close();
	}

	private static void assertRefused(ThrowingCallable assertion, String problem) {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(assertion)
			.withMessage("DL-621: " + problem + ADVICE);
	}

	@Test
	void workWithoutItsLockIsRefused() {
		assertRefused(LockAssert::assertHeld, "No lock is held on this thread");
		this.locks.execute(LockRequest.of(LockKey.of("other")), (lease) -> {
			LockAssert.assertHeld();
			assertRefused(() -> LockAssert.assertHeld("orders"),
					"No lock with the name 'orders' is held on this thread");
			assertRefused(() -> LockAssert.assertHeld(this.key), "Lock 'orders:42' is not held on this thread");
			return null;
		});
	}

	@Test
	void workUnderItsLockPasses() {
		this.locks.execute(LockRequest.of(this.key),
				(lease) -> this.locks.execute(LockRequest.of(LockKey.of("other")), (inner) -> {
					LockAssert.assertHeld();
					LockAssert.assertHeld("orders");
					LockAssert.assertHeld(this.key);
					assertRefused(() -> LockAssert.assertHeld(LockKey.of("orders", "43")),
							"Lock 'orders:43' is not held on this thread");
					return null;
				}));
	}

	@Test
	void lostLockIsRefused() {
		LockTemplate present = this.locks;
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> present.execute(LockRequest.of(this.key), (lease) -> {
				CompletableFuture.runAsync(() -> present.forceRelease(this.key));
				await().atMost(Duration.ofMinutes(1)).until(() -> !lease.isHeld());
				LockAssert.assertHeld("orders");
				return null;
			}));
	}

	@Test
	void locksThatAreSwitchedOffPass() {
		try (LockTemplate none = locks(new NoLockProvider())) {
			none.execute(LockRequest.of(this.key), (lease) -> {
				LockAssert.assertHeld(this.key);
				return null;
			});
		}
	}

}
