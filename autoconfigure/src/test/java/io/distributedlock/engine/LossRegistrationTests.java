package io.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.LossRegistration;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.COLLECTION;
import static org.awaitility.Awaitility.await;

/**
 * Tests of actions that are registered for a loss and removed again.
 */
class LossRegistrationTests {

	private static final LockKey KEY = LockKey.of("registered");

	private static final LockKey OTHER = LockKey.of("other");

	private final LockTimer timer = new LockTimer();

	private final LockTemplate locks = new LockTemplate(new LocalLockProvider(), LockSettings.defaults(), this.timer,
			List.of(), List.of());

	private final List<String> told = Collections.synchronizedList(new ArrayList<>());

	@AfterEach
	void close() {
		this.locks.close();
		this.timer.close();
	}

	private void lose(LockLease lease) {
		CompletableFuture<Boolean> last = new CompletableFuture<>();
		lease.onLost(() -> last.complete(true));
		this.locks.forceRelease(KEY);
		assertThat(last).succeedsWithin(Duration.ofMinutes(1));
	}

	@Test
	void removedActionDoesNotRunAndOthersRunInTheirOrder() {
		LockLease lease = this.locks.acquire(LockRequest.of(KEY));
		List<LossRegistration> registrations = new ArrayList<>();
		for (int number = 0; number < 5; number++) {
			String name = "action " + number;
			registrations.add(lease.onLost(() -> this.told.add(name)));
		}
		registrations.get(4).close();
		registrations.get(1).close();
		registrations.get(1).close();
		lose(lease);
		assertThat(this.told).containsExactly("action 0", "action 2", "action 3");
		registrations.forEach(LossRegistration::close);
	}

	@Test
	void nothingRemainsOfActionsThatWereRemoved() {
		LockLease lease = this.locks.acquire(LockRequest.of(KEY));
		List<LossRegistration> registrations = new ArrayList<>();
		for (int number = 0; number < 100; number++) {
			registrations.add(lease.onLost(() -> this.told.add("never")));
		}
		Collections.shuffle(registrations);
		registrations.forEach(LossRegistration::close);
		assertThat(lease).extracting("hold.lossActions.tasks", COLLECTION).isEmpty();
		lose(lease);
		assertThat(this.told).isEmpty();
	}

	@Test
	void actionOfSeveralKeysIsRemovedFromEach() {
		this.locks.execute(LockRequest.of(KEY), (outer) -> {
			this.locks.execute(LockRequest.ofAll(List.of(KEY, OTHER)), (lease) -> {
				lease.onLost(() -> this.told.add("lost")).close();
				return null;
			});
			assertThat(outer).extracting("hold.lossActions.tasks", COLLECTION).isEmpty();
			return null;
		});
		LockLease both = this.locks.acquire(LockRequest.ofAll(List.of(KEY, OTHER)));
		LossRegistration registration = both.onLost(() -> this.told.add("lost"));
		both.onLost(() -> this.told.add("kept"));
		registration.close();
		this.locks.forceRelease(OTHER);
		await().atMost(Duration.ofMinutes(1)).until(() -> !this.told.isEmpty());
		lose(both);
		assertThat(this.told).containsExactly("kept");
	}

	@Test
	void actionThatWaitsBehindAnotherAfterTheLossIsRemoved() {
		LockLease lease = this.locks.acquire(LockRequest.of(KEY));
		CountDownLatch blocked = new CountDownLatch(1);
		CountDownLatch begun = new CountDownLatch(1);
		lease.onLost(() -> {
			begun.countDown();
			uninterrupted(blocked);
		});
		LossRegistration behind = lease.onLost(() -> this.told.add("behind"));
		this.locks.forceRelease(KEY);
		uninterrupted(begun);
		LossRegistration late = lease.onLost(() -> this.told.add("late"));
		behind.close();
		late.close();
		CompletableFuture<Boolean> last = new CompletableFuture<>();
		lease.onLost(() -> last.complete(true));
		blocked.countDown();
		assertThat(last).succeedsWithin(Duration.ofMinutes(1));
		assertThat(this.told).isEmpty();
	}

	/** Removal, registration and loss meet at any moment. */
	@Test
	void actionRunsAtMostOnceWhileItsRemovalMeetsTheLoss() {
		int ran = 0;
		for (int round = 0; round < 500; round++) {
			LockLease lease = this.locks.acquire(LockRequest.of(KEY));
			AtomicInteger runs = new AtomicInteger();
			LossRegistration registration = lease.onLost(runs::incrementAndGet);
			LossRegistration neighbour = lease.onLost(() -> this.told.add("neighbour"));
			CompletableFuture<Void> loss = CompletableFuture.runAsync(() -> this.locks.forceRelease(KEY));
			for (int pause = ThreadLocalRandom.current().nextInt(20_000); pause > 0; pause--) {
				Thread.onSpinWait();
			}
			neighbour.close();
			registration.close();
			int atRemoval = runs.get();
			CompletableFuture<Boolean> last = new CompletableFuture<>();
			lease.onLost(() -> last.complete(true));
			loss.join();
			assertThat(last).succeedsWithin(Duration.ofMinutes(1));
			assertThat(runs.get()).isBetween(atRemoval, 1);
			ran += runs.get();
		}
		assertThat(ran).isBetween(0, 500);
	}

	private static void uninterrupted(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
