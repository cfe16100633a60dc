package io.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.LockSnapshot;
import io.distributedlock.LossReason;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What an operator sees of a template, and does to it.
 */
class LockTemplateViewTests {

	private static final LockKey KEY = LockKey.of("seats", "13A");

	private final LockTimer timer = new LockTimer();

	private final LockTemplate locks = new LockTemplate(new LocalLockProvider(), LockSettings.defaults(), this.timer,
			List.of(), List.of());

	@AfterEach
	void stop() {
		this.locks.close();
		this.timer.close();
	}

	@Test
	void snapshotNamesHolderAndWaiter() {
		try (LockLease lease = this.locks.acquire(LockRequest.of(KEY).withLease(Duration.ofSeconds(20)))) {
			CompletableFuture<LockLease> waiting = this.locks
				.acquireAsync(LockRequest.of(KEY).withWaitTime(Duration.ofMinutes(1)));
			await().until(() -> !this.locks.snapshot().waiting().isEmpty());
			LockSnapshot snapshot = this.locks.snapshot();
			assertThat(snapshot.held()).singleElement().satisfies((held) -> {
				assertThat(held.key()).isEqualTo(KEY);
				assertThat(held.requester()).isEqualTo(Thread.currentThread().getName());
				assertThat(held.token()).isEqualTo(lease.fencingToken());
				assertThat(held.lease()).isEqualTo(Duration.ofSeconds(20));
			});
			assertThat(snapshot.waiting()).singleElement().satisfies((waiter) -> {
				assertThat(waiter.key()).isEqualTo(KEY);
				assertThat(waiter.requester()).isEqualTo("acquireAsync");
				assertThat(waiter.waitTime()).isEqualTo(Duration.ofMinutes(1));
			});
			waiting.cancel(false);
		}
		await().until(() -> this.locks.snapshot()
			.equals(new LockSnapshot(this.locks.snapshot().provider(), List.of(), List.of())));
	}

	@Test
	void snapshotTellsNoWaitTimeOfAWaitWithoutLimit() throws Exception {
		Thread waiter = new Thread(() -> {
			Lock lock = this.locks.asLock(LockRequest.of(KEY));
			lock.lock();
			lock.unlock();
		});
		try (LockLease lease = this.locks.acquire(LockRequest.of(KEY))) {
			waiter.start();
			await().until(() -> !this.locks.snapshot().waiting().isEmpty());
			assertThat(this.locks.snapshot().waiting()).extracting(LockSnapshot.Waiting::waitTime).containsOnlyNulls();
		}
		waiter.join();
	}

	@Test
	void forceReleaseEndsTheHoldAndFreesTheKey() {
		LockLease lease = this.locks.acquire(LockRequest.of(KEY));
		CompletableFuture<LossReason> told = new CompletableFuture<>();
		lease.onLost(() -> told.complete(lease.lossReason()));
		assertThat(this.locks.forceRelease(KEY)).isTrue();
		assertThat(lease.isHeld()).isFalse();
		assertThat(told).succeedsWithin(Duration.ofSeconds(30)).isEqualTo(LossReason.FORCED);
		try (LockLease next = this.locks.acquire(LockRequest.of(KEY).withWaitTime(Duration.ofSeconds(30)))) {
			assertThat(next.isHeld()).isTrue();
			lease.close();
			assertThat(next.isHeld()).isTrue();
		}
	}

	@Test
	void forceReleaseOfAKeyThatIsNotHeldDoesNothing() {
		assertThat(this.locks.forceRelease(KEY)).isFalse();
	}

	@Test
	void forceReleaseByATokenEndsNoOtherHold() {
		LockLease lease = this.locks.acquire(LockRequest.of(KEY));
		FencingToken token = lease.fencingToken();
		assertThat(this.locks.forceRelease(KEY, new FencingToken(token.value() + 1))).isFalse();
		assertThat(this.locks.forceRelease(KEY, new FencingToken(token.value() + 1024))).isFalse();
		assertThat(this.locks.forceRelease(LockKey.of("seats", "13B"), token)).isFalse();
		assertThat(lease.isHeld()).isTrue();
		assertThat(this.locks.forceRelease(KEY, token)).isTrue();
		assertThat(lease.lossReason()).isEqualTo(LossReason.FORCED);
		assertThat(this.locks.forceRelease(KEY, token)).isFalse();
	}

	@Test
	void forceReleaseOfOneKeyLosesTheWholeHandle() {
		LockKey other = LockKey.of("seats", "13B");
		LockLease lease = this.locks.acquire(LockRequest.ofAll(List.of(KEY, other)));
		assertThat(this.locks.forceRelease(other, lease.fencingToken(KEY))).isFalse();
		assertThat(this.locks.forceRelease(other, lease.fencingToken(other))).isTrue();
		assertThat(lease.isHeld()).isFalse();
		lease.close();
	}

	@Test
	void forceReleaseAfterAHandOffNeedsTheTokenOfTheNewHold() throws Exception {
		LockRequest request = LockRequest.of(KEY).withWaitTime(Duration.ofMinutes(1));
		LockLease first = this.locks.acquire(request);
		CompletableFuture<LockLease> waiting = this.locks.acquireAsync(request);
		await().until(() -> !this.locks.snapshot().waiting().isEmpty());
		FencingToken former = first.fencingToken();
		first.close();
		LockLease second = waiting.get(1, TimeUnit.MINUTES);
		assertThat(this.locks.forceRelease(KEY, former)).isFalse();
		assertThat(second.isHeld()).isTrue();
		assertThat(this.locks.forceRelease(KEY, second.fencingToken())).isTrue();
		assertThat(second.isHeld()).isFalse();
	}

}
