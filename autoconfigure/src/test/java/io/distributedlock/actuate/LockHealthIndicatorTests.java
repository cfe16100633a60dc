package io.distributedlock.actuate;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mockito.Mockito;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.EarlyRenewals;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.local.NoLockProvider;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.AdditionalAnswers.delegatesTo;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.BDDMockito.willThrow;

class LockHealthIndicatorTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private static final LockKey KEY = LockKey.of("seats", "13A");

	private final LockTimer timer = new LockTimer();

	private final LockProvider provider = Mockito.mock(LockProvider.class, delegatesTo(new LocalLockProvider()));

	private final LockTemplate template = template(this.provider);

	private final LockHealthIndicator indicator = new LockHealthIndicator(
			managed("local", this.template, this.provider), TIMEOUT);

	@AfterEach
	void close() {
		this.template.close();
		this.timer.close();
	}

	private LockTemplate template(LockProvider provider) {
		return new LockTemplate(provider, LockSettings.defaults(), this.timer, List.of(), List.of());
	}

	private static ManagedProvider managed(String name, LockTemplate template, LockProvider provider) {
		return new ManagedProvider(name, provider, template, "somewhere");
	}

	private static Object detail(Health health, String name) {
		return health.getDetails().get(name);
	}

	@ParameterizedTest
	@CsvSource({ "STORE_FAILED, DOWN", "STORE_TIMEOUT, DOWN", "WRITES_REFUSED, OUT_OF_SERVICE",
			"TABLE_MISSING, OUT_OF_SERVICE", "TABLE_UNSUITABLE, OUT_OF_SERVICE", "NOT_PERMITTED, OUT_OF_SERVICE",
			"NEWER_FORMAT, OUT_OF_SERVICE", "STORE_TOO_OLD, OUT_OF_SERVICE", "STORE_UNSUITABLE, OUT_OF_SERVICE",
			"SHUTTING_DOWN, UNKNOWN" })
	void failureOfTheProbeDecidesTheStatus(LockError error, String status) {
		willThrow(new LockProviderException(error, "local", "failed", null)).given(this.provider).probe(any());
		Health health = this.indicator.health();
		assertThat(health.getStatus()).isEqualTo(new Status(status));
		assertThat(detail(health, "errorId")).isEqualTo(error.id());
		assertThat(detail(health, "error")).asString().contains(error.id());
	}

	@Test
	void contentionIsUpAndCounted() {
		try (LockLease lease = this.template.acquire(LockRequest.of(KEY))) {
			CompletableFuture<LockLease> waiting = this.template
				.acquireAsync(LockRequest.of(KEY).withWaitTime(TIMEOUT));
			await().until(() -> !this.template.snapshot().waiting().isEmpty());
			Health health = this.indicator.health();
			assertThat(health.getStatus()).isEqualTo(Status.UP);
			assertThat(health.getDetails()).containsExactlyInAnyOrderEntriesOf(Map.of("provider", "local", "location",
					"somewhere", "held", 1, "waiting", 1, "renewalLagMillis", 0L, "renewalFailures", 0));
			waiting.cancel(false);
			assertThat(lease.isHeld()).isTrue();
		}
	}

	@Test
	void overdueRenewalsAndTheirFailuresAreTold() {
		willAnswer((call) -> AnsweredStoreCall
			.failed(new LockProviderException(LockError.STORE_FAILED, "local", "failed", null))).given(this.provider)
			.renew(any(), any());
		// Early renewals leave most of the lease to what is told of their failures.
		LockSettings settings = EarlyRenewals.after(0.02, LockSettings.defaults().withLease(Duration.ofSeconds(6)));
		try (LockTemplate eager = new LockTemplate(this.provider, settings, this.timer, List.of(), List.of());
				LockLease lease = eager.acquire(LockRequest.of(KEY))) {
			LockHealthIndicator told = new LockHealthIndicator(managed("local", eager, this.provider), TIMEOUT);
			await().atMost(TIMEOUT).until(() -> (int) detail(told.health(), "renewalFailures") >= 2);
			Mockito.doAnswer((call) -> new CompletableStoreCall<>()).when(this.provider).renew(any(), any());
			await().atMost(TIMEOUT).until(() -> (long) detail(told.health(), "renewalLagMillis") > 0);
			assertThat(told.health().getStatus()).isEqualTo(Status.UP);
			assertThat(lease.keys()).containsExactly(KEY);
		}
	}

	@Test
	void stateIsUnknownWhileLockingIsStopped() {
		this.template.stop(Duration.ZERO);
		assertThat(this.indicator.health().getStatus()).isEqualTo(Status.UNKNOWN);
		Mockito.verify(this.provider, Mockito.never()).probe(any());
		this.template.start();
		assertThat(this.indicator.health().getStatus()).isEqualTo(Status.UP);
	}

	@Test
	void providerThatLocksNothingIsUpAndSaysSo() {
		NoLockProvider none = new NoLockProvider();
		try (LockTemplate unlocked = template(none)) {
			Health health = new LockHealthIndicator(managed("none", unlocked, none), TIMEOUT).health();
			assertThat(health.getStatus()).isEqualTo(Status.UP);
			assertThat(detail(health, "locking")).isEqualTo("off");
		}
	}

	@Test
	void checksOfAStoreThatHangsShareOneProbe() throws Exception {
		AtomicInteger probes = new AtomicInteger();
		CountDownLatch answer = new CountDownLatch(1);
		willAnswer((call) -> {
			probes.incrementAndGet();
			return answer.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
		}).given(this.provider).probe(any());
		ExecutorService callers = Executors.newFixedThreadPool(8);
		try {
			List<Future<Health>> checks = IntStream.range(0, 8)
				.mapToObj((i) -> callers.submit(() -> this.indicator.health()))
				.toList();
			await().until(() -> probes.get() == 1);
			assertThat(checks).noneMatch(Future::isDone);
			answer.countDown();
			for (Future<Health> check : checks) {
				assertThat(check.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS).getStatus()).isEqualTo(Status.UP);
			}
		}
		finally {
			callers.shutdownNow();
		}
	}

	@Test
	void waitForAProbeUnderWayIsBounded() throws Exception {
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch answer = new CountDownLatch(1);
		willAnswer((call) -> {
			begun.countDown();
			return answer.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
		}).given(this.provider).probe(any());
		LockHealthIndicator impatient = new LockHealthIndicator(managed("local", this.template, this.provider),
				Duration.ofMillis(100));
		CompletableFuture<Health> first = new CompletableFuture<>();
		Thread hanging = new Thread(() -> first.complete(impatient.health()));
		hanging.start();
		assertThat(begun.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
		Health second = impatient.health();
		assertThat(second.getStatus()).isEqualTo(Status.DOWN);
		assertThat(detail(second, "errorId")).isEqualTo("DL-302");
		answer.countDown();
		assertThat(first).succeedsWithin(TIMEOUT).extracting(Health::getStatus).isEqualTo(Status.UP);
		hanging.join();
	}

}
