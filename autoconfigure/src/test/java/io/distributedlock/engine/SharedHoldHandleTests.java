package io.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.grant.JoinableLease;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests of holds with several handles.
 */
class SharedHoldHandleTests {

	private static final int ROUNDS = 2_000;

	private final LockTimer timer = new LockTimer();

	private final LockTemplate locks = new LockTemplate(new LocalLockProvider(), LockSettings.defaults(), this.timer,
			List.of(), List.of());

	private final LockRequest request = LockRequest.of(LockKey.of("kept")).withWaitTime(Duration.ZERO);

	@AfterEach
	void close() {
		this.locks.close();
		this.timer.close();
	}

	@Test
	void handleThatIsClosedLastReleases() {
		JoinableLease lease = (JoinableLease) this.locks.acquire(this.request);
		JoinableLease kept = lease.keep();
		lease.close();
		lease.close();
		assertThat(this.locks.tryAcquire(this.request)).isNull();
		assertThat(kept.isHeld()).isTrue();
		kept.close();
		kept.close();
		assertThat(kept.isHeld()).isFalse();
		assertThat(kept.keep()).isNull();
		assertThat(lease.keep()).isNull();
		assertThatIllegalStateException().isThrownBy(kept::ensureHeld);
		this.locks.acquire(this.request).close();
	}

	@Test
	void handleThatIsClosedIsNotHeldWhileAnotherKeepsTheLock() {
		JoinableLease lease = (JoinableLease) this.locks.acquire(this.request);
		JoinableLease kept = lease.keep();
		kept.close();
		assertThat(kept.isHeld()).isFalse();
		assertThat(kept.keep()).isNull();
		assertThat(kept.remaining()).isZero();
		assertThatIllegalStateException().isThrownBy(kept::ensureHeld);
		assertThat(lease.isHeld()).isTrue();
		lease.close();
	}

	/** Both closes see the other one not done, in some of the rounds. */
	@Test
	void oneOfTwoClosesAtTheSameTimeReleases() throws Exception {
		AtomicInteger phase = new AtomicInteger();
		JoinableLease[] kept = new JoinableLease[1];
		Thread other = new Thread(() -> {
			for (int round = 0; round < ROUNDS; round++) {
				await(phase, 3 * round + 1);
				kept[0].close();
				phase.incrementAndGet();
			}
		});
		other.start();
		for (int round = 0; round < ROUNDS; round++) {
			LockLease lease = this.locks.acquire(this.request);
			kept[0] = ((JoinableLease) lease).keep();
			phase.incrementAndGet();
			for (int pause = round % 64; pause > 0; pause--) {
				Thread.onSpinWait();
			}
			lease.close();
			await(phase, 3 * round + 2);
			phase.incrementAndGet();
			assertThat(this.locks.snapshot().held()).as("round %s", round).isEmpty();
		}
		other.join();
	}

	private static void await(AtomicInteger phase, int wanted) {
		long until = System.nanoTime() + Duration.ofMinutes(1).toNanos();
		for (int spins = 0; phase.get() < wanted && System.nanoTime() < until; spins++) {
			if (spins < 1000) {
				Thread.onSpinWait();
			}
			else {
				Thread.yield();
			}
		}
	}

}
