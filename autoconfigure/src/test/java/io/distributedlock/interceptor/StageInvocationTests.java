package io.distributedlock.interceptor;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLostException;
import io.distributedlock.LockRequest;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.AdditionalAnswers.delegatesTo;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.Mockito.mock;

/**
 * Tests of {@link StageInvocation} over a store in memory.
 */
class StageInvocationTests {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private final LockTimer timer = new LockTimer();

	private final LockProvider store = new LocalLockProvider();

	private final LockProvider provider = mock(LockProvider.class, delegatesTo(this.store));

	private final LockTemplate locks = new LockTemplate(this.provider,
			LockSettings.defaults().withCallTimeout(PATIENCE), this.timer, List.of(), List.of());

	private final Work target = new Work();

	private final Work work = new LockedProxies(this.locks).ofClass(this.target);

	private final CountDownLatch storeAnswers = new CountDownLatch(1);

	private volatile boolean answered;

	@AfterEach
	void close() {
		this.storeAnswers.countDown();
		this.locks.close();
		this.timer.close();
	}

	private void letReleasesWait() {
		given(this.provider.isBlocking()).willReturn(true);
		willAnswer((call) -> {
			this.storeAnswers.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
			this.answered = true;
			return this.store.release(call.getArgument(0), call.getArgument(1), call.getArgument(2));
		}).given(this.provider).release(any(), any(), any(), any());
	}

	@Test
	void threadThatEndsTheWorkDoesNotWaitForTheStore() {
		letReleasesWait();
		CompletableFuture<Object> result = this.work.run("a");
		this.target.end.complete("end");
		assertThat(this.answered).isFalse();
		assertThat(result).isNotDone();
		this.storeAnswers.countDown();
		assertThat(result).succeedsWithin(PATIENCE).isEqualTo("end");
	}

	@Test
	void threadThatCancelsTheResultDoesNotWaitForTheStore() {
		letReleasesWait();
		CompletableFuture<Object> result = this.work.run("a");
		assertThat(result.cancel(true)).isTrue();
		assertThat(this.answered).isFalse();
		assertThat(this.target.end).isCancelled();
	}

	@Test
	void resultComesWithinTheCallTimeoutWhateverTheStoreDoes() {
		letReleasesWait();
		try (LockTemplate impatient = new LockTemplate(this.provider,
				LockSettings.defaults().withCallTimeout(Duration.ofMillis(50)), this.timer, List.of(), List.of())) {
			CompletableFuture<Object> result = new LockedProxies(impatient).ofClass(this.target).run("a");
			this.target.end.complete("end");
			assertThat(result).succeedsWithin(PATIENCE).isEqualTo("end");
			this.storeAnswers.countDown();
		}
	}

	@Test
	void callOnAThreadOfAnEventLoopIsRefused() {
		Mono<Object> call = Mono.<Object>fromCallable(() -> this.work.run("a")).subscribeOn(Schedulers.parallel());
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> call.block(PATIENCE))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NON_BLOCKING_THREAD))
			.withMessageContaining("Work.run")
			.withMessageContaining("parallel-");
		assertThat(this.target.calls).isZero();
	}

	@Test
	void valueThatIsNotFinishedIsRefused() {
		this.target.end.complete(Stream.of("later"));
		assertThat(this.work.run("a")).failsWithin(PATIENCE)
			.withThrowableThat()
			.havingRootCause()
			.isInstanceOfSatisfying(LockConfigurationException.class,
					(ex) -> assertThat(ex.error()).isEqualTo(LockError.UNSUPPORTED_RESULT));
	}

	@Test
	void lossAfterAFailureIsAddedToIt() {
		CompletableFuture<Object> result = this.work.run("a");
		this.locks.forceRelease(LockKey.of("Work.run", "a"));
		IllegalStateException failure = new IllegalStateException();
		this.target.end.completeExceptionally(failure);
		assertThat(result).failsWithin(PATIENCE).withThrowableThat().havingRootCause().isSameAs(failure);
		assertThat(failure.getSuppressed()).singleElement().isInstanceOf(LockLostException.class);
	}

	@Test
	void nestedWorkKeepsSomeOfItsKeysAndAcquiresTheOthers() {
		LockKey outer = LockKey.of("outer");
		LockKey other = LockKey.of("other");
		CompletableFuture<String> end = new CompletableFuture<>();
		CompletableFuture<String> inner = this.locks.execute(LockRequest.of(outer),
				(lease) -> this.locks.executeAsync(LockRequest.ofAll(List.of(outer, other)), (both) -> {
					assertThat(both.keys()).containsExactlyInAnyOrder(outer, other);
					assertThat(both.fencingToken(outer)).isEqualTo(lease.fencingToken());
					return end;
				}));
		LockRequest attempt = LockRequest.of(outer).withWaitTime(Duration.ZERO);
		assertThat(this.locks.tryAcquire(attempt)).isNull();
		assertThat(this.locks.tryAcquire(attempt.withKeys(List.of(other)))).isNull();
		end.complete("end");
		assertThat(inner).succeedsWithin(PATIENCE).isEqualTo("end");
		assertThat(this.locks.acquire(attempt.withKeys(List.of(outer, other))).isHeld()).isTrue();
	}

	static class Work {

		private final CompletableFuture<Object> end = new CompletableFuture<>();

		private int calls;

		@DistributedLock("#p0")
		CompletableFuture<Object> run(String id) {
			this.calls++;
			return this.end;
		}

	}

}
