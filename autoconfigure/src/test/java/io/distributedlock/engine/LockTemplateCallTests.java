package io.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockContext;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class LockTemplateCallTests {

	private static final LockKey KEY = LockKey.of("seats", "13A");

	private static final LockRequest REQUEST = LockRequest.of(KEY);

	private final LockTimer timer = new LockTimer();

	private final ScriptedLockProvider provider = new ScriptedLockProvider();

	private final LockTemplate locks = new LockTemplate(this.provider, LockSettings.defaults(), this.timer, List.of(),
			List.of());

	@AfterEach
	void stop() {
		this.locks.close();
		this.timer.close();
	}

	/** Another process has the lock. */
	private void makeBusy() {
		this.provider.store.newContender(KEY, () -> {
		}).attempt(new OwnerId(1, 1), Duration.ofHours(1), false, Duration.ofSeconds(1)).result();
	}

	@Test
	void tryWithoutAWaitTimeOfItsOwnMakesOneAttempt() {
		makeBusy();
		assertThat(this.locks.tryAcquire(REQUEST)).isNull();
		assertThat(this.provider.attempts).hasSize(1);
	}

	@Test
	void tryWithAWaitTimeOfItsOwnWaits() {
		makeBusy();
		Duration wait = Duration.ofMillis(20);
		long startNanos = System.nanoTime();
		assertThat(this.locks.tryAcquire(REQUEST.withWaitTime(wait))).isNull();
		assertThat(System.nanoTime() - startNanos).isGreaterThanOrEqualTo(wait.toNanos());
	}

	@Test
	void tryForALockOfThisProcessDoesNotWait() {
		try (LockLease lease = this.locks.acquire(REQUEST)) {
			assertThat(this.locks.tryAcquire(REQUEST)).isNull();
			assertThat(lease.isHeld()).isTrue();
		}
	}

	@Test
	void bodyRunsUnderTheLockOfAKey() {
		LockLease held = this.locks.execute(KEY, (lease) -> {
			assertThat(LockContext.current()).isSameAs(lease);
			return lease;
		});
		assertThat(held.keys()).containsExactly(KEY);
		assertThat(held.isHeld()).isFalse();
	}

	@Test
	void bodyWithoutAResultRunsUnderItsLock() {
		List<LockLease> held = new ArrayList<>();
		this.locks.executeWithoutResult(KEY, held::add);
		this.locks.executeWithoutResult(REQUEST.withMaxHold(Duration.ofMinutes(1)), held::add);
		assertThat(held).hasSize(2).allSatisfy((lease) -> {
			assertThat(lease.keys()).containsExactly(KEY);
			assertThat(lease.isHeld()).isFalse();
		});
		assertThatIllegalStateException().isThrownBy(() -> this.locks.executeWithoutResult(KEY, (lease) -> {
			throw new IllegalStateException("the body's own");
		})).withMessage("the body's own");
	}

}
