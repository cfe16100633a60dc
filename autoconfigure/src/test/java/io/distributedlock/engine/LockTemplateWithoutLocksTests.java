package io.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.NoLockProvider;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;

/** The engine over a provider whose keys are never busy. */
class LockTemplateWithoutLocksTests {

	private static final LockKey KEY = LockKey.of("none");

	private final ExecutorService threads = Executors.newFixedThreadPool(2);

	private final LockTimer timer = new LockTimer();

	private final LockTemplate locks = new LockTemplate(new NoLockProvider(), LockSettings.defaults(), this.timer,
			List.of(), List.of());

	@AfterEach
	void stop() {
		this.threads.shutdownNow();
		this.locks.close();
		this.timer.close();
	}

	@Test
	void bodiesOfOneKeyRunAtTheSameTime() {
		CyclicBarrier both = new CyclicBarrier(2);
		List<CompletableFuture<FencingToken>> bodies = List.of(body(both), body(both));
		List<FencingToken> tokens = bodies.stream().map(CompletableFuture::join).toList();
		assertThat(tokens).doesNotHaveDuplicates();
	}

	private CompletableFuture<FencingToken> body(CyclicBarrier both) {
		return CompletableFuture.supplyAsync(() -> this.locks.execute(LockRequest.of(KEY), (lease) -> {
			try {
				both.await(30, TimeUnit.SECONDS);
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
			return lease.fencingToken();
		}), this.threads);
	}

	@Test
	void handlesOfOneKeyAreHeldAndReleasedIndependently() {
		LockRequest atOnce = LockRequest.of(KEY).withWaitTime(Duration.ZERO);
		LockLease first = this.locks.acquire(atOnce);
		LockLease second = this.locks.acquire(atOnce);
		first.close();
		assertThat(first.isHeld()).isFalse();
		assertThat(second.isHeld()).isTrue();
		second.close();
	}

}
