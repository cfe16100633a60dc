package io.distributedlock.interceptor;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.OnLost;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.reactive.ReactiveLockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.InstanceOfAssertFactories.COLLECTION;
import static org.awaitility.Awaitility.await;

/**
 * Nested calls with {@link OnLost#INTERRUPT} under one long hold: nothing of them remains
 * in it.
 */
class NestedLossActionTests {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private static final int CALLS = 50;

	private final LockTimer timer = new LockTimer();

	private final LockTemplate locks = new LockTemplate(new LocalLockProvider(), LockSettings.defaults(), this.timer,
			List.of(), List.of());

	private final LockRequest request = LockRequest.of(LockKey.of("long"));

	private final Work work = new LockedProxies(this.locks).ofClass(new Work());

	@AfterEach
	void close() {
		this.locks.close();
		this.timer.close();
	}

	private static void assertNothingRemains(LockLease lease) {
		await().pollDelay(Duration.ZERO)
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(lease).extracting("hold.lossActions.tasks", COLLECTION).isEmpty());
	}

	@Test
	void nestedCallsLeaveNothing() {
		this.locks.execute(this.request, (lease) -> {
			for (int call = 0; call < CALLS; call++) {
				assertThat(this.work.value(null)).isEqualTo("value");
				assertThat(catchThrowable(() -> this.work.value(new IllegalStateException())))
					.isInstanceOf(IllegalStateException.class);
			}
			assertNothingRemains(lease);
			return null;
		});
	}

	@Test
	void nestedStagesLeaveNothing() {
		this.locks.execute(this.request, (lease) -> {
			for (int call = 0; call < CALLS; call++) {
				CompletableFuture<String> stage = new CompletableFuture<>();
				CompletableFuture<String> result = this.work.stage(stage);
				if (call % 3 == 0) {
					stage.complete("value");
				}
				else if (call % 3 == 1) {
					stage.completeExceptionally(new IllegalStateException());
				}
				else {
					result.cancel(true);
				}
			}
			assertNothingRemains(lease);
			return null;
		});
	}

	@Test
	void nestedPublishersLeaveNothing() {
		new ReactiveLockTemplate(this.locks)
			.execute(this.request, (lease) -> Flux.range(0, CALLS).concatMap((call) -> switch (call % 4) {
				case 0 -> this.work.mono(Mono.just("value"));
				case 1 -> this.work.mono(Mono.error(new IllegalStateException())).onErrorComplete();
				case 2 -> this.work.flux(Flux.just("one", "two")).then();
				default -> this.work.flux(Flux.just("one").concatWith(Mono.never())).next();
			}).then(Mono.fromRunnable(() -> assertNothingRemains(lease))))
			.block(PATIENCE);
	}

	static class Work {

		@DistributedLock(name = "long", onLost = OnLost.INTERRUPT)
		String value(RuntimeException problem) {
			if (problem != null) {
				throw problem;
			}
			return "value";
		}

		@DistributedLock(name = "long", onLost = OnLost.INTERRUPT)
		CompletableFuture<String> stage(CompletableFuture<String> stage) {
			return stage;
		}

		@DistributedLock(name = "long", onLost = OnLost.INTERRUPT)
		Mono<String> mono(Mono<String> work) {
			return work;
		}

		@DistributedLock(name = "long", onLost = OnLost.INTERRUPT)
		Flux<String> flux(Flux<String> work) {
			return work;
		}

	}

}
