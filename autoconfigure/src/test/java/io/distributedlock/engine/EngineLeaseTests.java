package io.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.LockSnapshot;
import io.distributedlock.engine.concurrent.CallbackThreads;
import io.distributedlock.engine.grant.EngineLease;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests of handles, several of which may have one hold.
 */
class EngineLeaseTests {

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
		EngineLease lease = (EngineLease) this.locks.acquire(this.request);
		EngineLease kept = lease.keep();
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
		EngineLease lease = (EngineLease) this.locks.acquire(this.request);
		EngineLease kept = lease.keep();
		kept.close();
		assertThat(kept.isHeld()).isFalse();
		assertThat(kept.keep()).isNull();
		assertThat(kept.remaining()).isZero();
		assertThatIllegalStateException().isThrownBy(kept::ensureHeld);
		assertThat(lease.isHeld()).isTrue();
		lease.close();
	}

	@Test
	void onlyTheKeyThatWasJoinedIsKept() {
		LockRequest both = LockRequest.ofAll(List.of(LockKey.of("kept"), LockKey.of("other")));
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<String> result = this.locks.execute(both,
				(outer) -> this.locks.executeAsync(this.request, (inner) -> work));
		assertThat(this.locks.snapshot().held()).extracting(LockSnapshot.Held::key).containsExactly(LockKey.of("kept"));
		work.complete("done");
		assertThat(result).succeedsWithin(Duration.ofMinutes(1)).isEqualTo("done");
		assertThat(this.locks.snapshot().held()).isEmpty();
	}

	/** Its handle was closed, and the key that it had joined is held by another call. */
	@Test
	void nestedCallJoinsWhatATransactionKeepsOfAnAsynchronousCall() {
		List<Runnable> completions = new ArrayList<>();
		EnclosingTransaction transaction = new EnclosingTransaction() {

			@Override
			public boolean isRunning() {
				return true;
			}

			@Override
			public void afterCompletion(Runnable action) {
				completions.add(action);
			}

		};
		CallbackThreads callbacks = new CallbackThreads(this.timer);
		try (LockTemplate inTransaction = new LockTemplate(new LocalLockProvider(), LockSettings.defaults(), this.timer,
				callbacks, List.of(), List.of(), transaction)) {
			LockRequest other = LockRequest.of(LockKey.of("other")).withWaitTime(Duration.ZERO);
			LockRequest both = LockRequest.ofAll(List.of(LockKey.of("kept"), LockKey.of("other")));
			assertThat(inTransaction.<String, RuntimeException>execute(this.request, (outer) -> {
				inTransaction.executeAsync(both, (all) -> CompletableFuture.completedFuture("done"));
				return inTransaction.execute(other, (nested) -> "joined");
			})).isEqualTo("joined");
			completions.forEach(Runnable::run);
			assertThat(inTransaction.snapshot().held()).isEmpty();
		}
		callbacks.close();
	}

	@Test
	void everyPartOfSeveralKeysIsClosedOnce() {
		LockRequest both = LockRequest.ofAll(List.of(LockKey.of("b"), LockKey.of("a")));
		EngineLease lease = (EngineLease) this.locks.acquire(both);
		EngineLease kept = lease.keep();
		lease.close();
		lease.close();
		assertThat(kept.isHeld()).isTrue();
		assertThat(kept.keys()).isEqualTo(both.keys());
		kept.closeAsync().join();
		assertThat(lease.isHeld()).isFalse();
		assertThat(lease.keep()).isNull();
		assertThat(this.locks.snapshot().held()).isEmpty();
	}

	/** Both closes see the other one not done, in some of the rounds. */
	@Test
	void oneOfTwoClosesAtTheSameTimeReleases() throws Exception {
		AtomicInteger phase = new AtomicInteger();
		EngineLease[] kept = new EngineLease[1];
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
			kept[0] = ((EngineLease) lease).keep();
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
