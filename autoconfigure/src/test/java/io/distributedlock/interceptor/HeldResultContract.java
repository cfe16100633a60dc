package io.distributedlock.interceptor;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import io.distributedlock.FencingToken;
import io.distributedlock.LockContext;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockRequest;
import io.distributedlock.OnLost;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.reactive.ReactiveLockContext;
import io.distributedlock.testkit.LockProviderFixture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/**
 * Contract of locked methods whose results finish later: another process finds the lock
 * held until the work has ended, and free soon after that.
 */
public abstract class HeldResultContract {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	/** Shorter than the call time-out, and longer than a machine may stand still. */
	private static final Duration RELEASED_WITHIN = Duration.ofSeconds(4);

	private final List<AutoCloseable> opened = new ArrayList<>();

	private final String id = UUID.randomUUID().toString();

	private final LockKey key = LockKey.of("held", this.id);

	private final Work work = new Work();

	private LockProviderFixture fixture;

	private LockTemplate locks;

	private LockTemplate others;

	private Work proxy;

	protected abstract LockProviderFixture createFixture();

	@BeforeEach
	void open() {
		this.fixture = createFixture();
		this.locks = newProcess();
		this.others = newProcess();
		this.proxy = new LockedProxies(this.locks).ofClass(this.work);
	}

	@AfterEach
	void close() throws Exception {
		this.work.end.complete("end");
		for (AutoCloseable each : this.opened) {
			each.close();
		}
		this.fixture.close();
	}

	private LockTemplate newProcess() {
		LockTimer timer = new LockTimer();
		LockTemplate template = new LockTemplate(this.fixture.newProcess(),
				LockSettings.defaults().withCallTimeout(Duration.ofSeconds(5)), timer, List.of(), List.of());
		this.opened.add(template);
		this.opened.add(timer);
		return template;
	}

	private boolean isFree() {
		LockLease lease = this.others.tryAcquire(LockRequest.of(this.key).withWaitTime(Duration.ZERO));
		if (lease != null) {
			lease.close();
		}
		return lease != null;
	}

	private void awaitFree() {
		await().pollInterval(Duration.ofMillis(20)).atMost(RELEASED_WITHIN).until(this::isFree);
	}

	private void awaitStart() throws InterruptedException {
		assertThat(this.work.started.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
	}

	static Stream<Arguments> shapesAndEndings() {
		return Stream.of(Shape.values())
			.flatMap((shape) -> Stream.of(Ending.values()).map((ending) -> Arguments.of(shape, ending)));
	}

	@ParameterizedTest
	@MethodSource("shapesAndEndings")
	void lockIsHeldUntilTheWorkHasEnded(Shape shape, Ending ending) throws Exception {
		CompletableFuture<?> result = shape.call(this.proxy, this.id);
		awaitStart();
		assertThat(result).isNotDone();
		assertThat(LockContext.find()).isEmpty();
		assertThat(isFree()).isFalse();
		ending.end(this.work.end, result);
		if (shape == Shape.STAGE && ending == Ending.CANCELLATION) {
			// The stage cannot be cancelled: its work goes on, and so does the lock.
			assertThat(isFree()).isFalse();
			this.work.end.complete("end");
		}
		awaitFree();
		ending.check(result);
	}

	@ParameterizedTest
	@EnumSource
	void lossBeforeTheEndFailsTheResult(Shape shape) throws Exception {
		CompletableFuture<?> result = shape.call(this.proxy, this.id);
		awaitStart();
		assertThat(this.locks.forceRelease(this.key)).isTrue();
		awaitFree();
		assertThat(result).isNotDone();
		this.work.end.complete("end");
		assertThat(result).failsWithin(PATIENCE).withThrowableThat().withCauseInstanceOf(LockLostException.class);
	}

	@ParameterizedTest
	@EnumSource
	void lossThatIsIgnoredLeavesTheResultAlone(Shape shape) throws Exception {
		CompletableFuture<?> result = shape.callIgnoring(this.proxy, this.id);
		awaitStart();
		this.locks.forceRelease(this.key);
		this.work.end.complete("end");
		assertThat(result.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).toString()).contains("end");
	}

	@ParameterizedTest
	@EnumSource
	void lossEndsTheWorkWithOnLostInterrupt(Shape shape) throws Exception {
		CompletableFuture<?> result = shape.callInterrupted(this.proxy, this.id);
		awaitStart();
		this.locks.forceRelease(this.key);
		assertThat(result).failsWithin(PATIENCE).withThrowableThat().withCauseInstanceOf(LockLostException.class);
		if (shape != Shape.STAGE) {
			await().atMost(PATIENCE).until(() -> this.work.end.isCancelled() || this.work.cancelled.getCount() == 0);
		}
	}

	@ParameterizedTest
	@EnumSource
	void busyLockFailsTheCall(Shape shape) {
		try (LockLease lease = this.others.acquire(LockRequest.of(this.key))) {
			CompletableFuture<?> result;
			try {
				result = shape.callWithoutWaiting(this.proxy, this.id);
			}
			catch (LockNotAcquiredException ex) {
				result = CompletableFuture.failedFuture(ex);
			}
			assertThat(result).failsWithin(PATIENCE)
				.withThrowableThat()
				.havingRootCause()
				.isInstanceOf(LockNotAcquiredException.class);
			assertThat(this.work.started.getCount()).isEqualTo(1);
		}
	}

	@Test
	void lockOfWorkThatIsDoneIsFreeWhenTheCallReturns() {
		this.work.end.complete("end");
		assertThat(this.proxy.future(this.id)).isCompletedWithValue("end");
		assertThat(isFree()).isTrue();
	}

	@Test
	void workThatFailsToStartLeavesTheLockFree() {
		assertThat(catchThrowable(() -> this.proxy.failing(this.id))).isSameAs(this.work.failure);
		assertThat(isFree()).isTrue();
		assertThat(this.proxy.nothing(this.id)).isNull();
		assertThat(isFree()).isTrue();
	}

	@Test
	void cancelledSubscriptionWaitsNoLonger() {
		try (LockLease lease = this.others.acquire(LockRequest.of(this.key))) {
			CompletableFuture<String> result = this.proxy.mono(this.id).toFuture();
			await().atMost(PATIENCE).until(() -> !this.locks.snapshot().waiting().isEmpty());
			result.cancel(true);
			await().atMost(PATIENCE).until(() -> this.locks.snapshot().waiting().isEmpty());
		}
		awaitFree();
		await().atMost(PATIENCE).until(() -> this.fixture.heldEntries() == 0);
		assertThat(this.work.started.getCount()).isEqualTo(1);
	}

	@Test
	void cancellationAtAnyMomentLeavesNoLock() {
		for (int round = 0; round < 50; round++) {
			CompletableFuture<String> result = this.proxy.mono(this.id).toFuture();
			if (round % 5 > 0) {
				long until = System.nanoTime() + round * 20_000L;
				await().pollInterval(Duration.ofNanos(1000)).until(() -> System.nanoTime() > until);
			}
			result.cancel(true);
		}
		await().atMost(PATIENCE).until(() -> this.fixture.heldEntries() == 0);
		assertThat(this.locks.snapshot().held()).isEmpty();
	}

	@Test
	void eachSubscriptionAcquiresTheLockAnew() {
		this.work.end.complete("end");
		List<FencingToken> tokens = this.proxy.token(this.id).repeat(2).collectList().block(PATIENCE);
		assertThat(tokens).hasSize(3).isSorted().doesNotHaveDuplicates();
		awaitFree();
	}

	@Test
	void nestedCallOfTheSameFlowJoins() {
		this.work.end.complete("end");
		assertThat(this.proxy.nesting(this.id, this.proxy).block(PATIENCE)).isEqualTo("end");
		awaitFree();
	}

	@Test
	void nestedWorkKeepsTheLockAfterTheEnclosingCall() {
		CompletableFuture<?> inner = this.locks.execute(LockRequest.of(this.key),
				(lease) -> this.proxy.future(this.id));
		assertThat(isFree()).isFalse();
		this.work.end.complete("end");
		awaitFree();
		assertThat(inner).succeedsWithin(PATIENCE).isEqualTo("end");
	}

	@Test
	void nestedPublisherJoinsTheLockOfTheThreadThatSubscribes() {
		this.work.end.complete("end");
		assertThat(this.locks.<String, RuntimeException>execute(LockRequest.of(this.key),
				(lease) -> this.proxy.mono(this.id).block(PATIENCE)))
			.isEqualTo("end");
		assertThat(isFree()).isTrue();
	}

	/** What the caller sees of a result. */
	enum Shape {

		FUTURE(Function.<CompletableFuture<String>>identity(), Work::future, Work::ignoringFuture,
				Work::interruptedFuture, Work::impatientFuture),
		STAGE(CompletionStage<String>::toCompletableFuture, Work::stage, Work::ignoringStage, Work::interruptedStage,
				Work::impatientStage),
		MONO(Mono<String>::toFuture, Work::mono, Work::ignoringMono, Work::interruptedMono, Work::impatientMono),
		FLUX((Publisher<String> flux) -> Flux.from(flux).collectList().toFuture(), Work::flux, Work::ignoringFlux,
				Work::interruptedFlux, Work::impatientPublisher);

		private final BiFunction<Work, String, CompletableFuture<?>> held;

		private final BiFunction<Work, String, CompletableFuture<?>> ignoring;

		private final BiFunction<Work, String, CompletableFuture<?>> interrupted;

		private final BiFunction<Work, String, CompletableFuture<?>> impatient;

		<R> Shape(Function<R, ? extends CompletableFuture<?>> toFuture, BiFunction<Work, String, ? extends R> held,
				BiFunction<Work, String, ? extends R> ignoring, BiFunction<Work, String, ? extends R> interrupted,
				BiFunction<Work, String, ? extends R> impatient) {
			this.held = held.andThen(toFuture::apply);
			this.ignoring = ignoring.andThen(toFuture::apply);
			this.interrupted = interrupted.andThen(toFuture::apply);
			this.impatient = impatient.andThen(toFuture::apply);
		}

		CompletableFuture<?> call(Work work, String id) {
			return this.held.apply(work, id);
		}

		CompletableFuture<?> callIgnoring(Work work, String id) {
			return this.ignoring.apply(work, id);
		}

		CompletableFuture<?> callInterrupted(Work work, String id) {
			return this.interrupted.apply(work, id);
		}

		CompletableFuture<?> callWithoutWaiting(Work work, String id) {
			return this.impatient.apply(work, id);
		}

	}

	/** How the work ends. */
	enum Ending {

		COMPLETION {
			@Override
			void end(CompletableFuture<String> end, CompletableFuture<?> result) {
				end.complete("end");
			}

			@Override
			void check(CompletableFuture<?> result) {
				assertThat(result).succeedsWithin(PATIENCE);
			}
		},
		FAILURE {
			@Override
			void end(CompletableFuture<String> end, CompletableFuture<?> result) {
				end.completeExceptionally(new IllegalArgumentException("failed"));
			}

			@Override
			void check(CompletableFuture<?> result) {
				assertThat(result).failsWithin(PATIENCE)
					.withThrowableThat()
					.havingRootCause()
					.isInstanceOf(IllegalArgumentException.class);
			}
		},
		CANCELLATION {
			@Override
			void end(CompletableFuture<String> end, CompletableFuture<?> result) {
				result.cancel(true);
			}

			@Override
			void check(CompletableFuture<?> result) {
				assertThat(catchThrowable(result::join)).isInstanceOf(CancellationException.class);
			}
		};

		abstract void end(CompletableFuture<String> end, CompletableFuture<?> result);

		abstract void check(CompletableFuture<?> result);

	}

	/** Work that ends when the test says so. */
	static class Work {

		private final CompletableFuture<String> end = new CompletableFuture<>();

		private final CountDownLatch started = new CountDownLatch(1);

		private final CountDownLatch cancelled = new CountDownLatch(1);

		private final IllegalStateException failure = new IllegalStateException();

		private CompletableFuture<String> start() {
			assertThat(LockContext.current().isHeld()).isTrue();
			this.started.countDown();
			return this.end;
		}

		private Mono<String> startMono() {
			return Mono.fromFuture(start(), true).doOnCancel(this.cancelled::countDown);
		}

		@DistributedLock(name = "held", key = "#id")
		CompletableFuture<String> future(String id) {
			return start();
		}

		@DistributedLock(name = "held", key = "#id")
		CompletionStage<String> stage(String id) {
			return start().minimalCompletionStage();
		}

		@DistributedLock(name = "held", key = "#id")
		Mono<String> mono(String id) {
			return startMono();
		}

		@DistributedLock(name = "held", key = "#id")
		Flux<String> flux(String id) {
			return Flux.just("first").concatWith(startMono());
		}

		@DistributedLock(name = "held", key = "#id", onLost = OnLost.IGNORE)
		CompletableFuture<String> ignoringFuture(String id) {
			return start();
		}

		@DistributedLock(name = "held", key = "#id", onLost = OnLost.IGNORE)
		CompletionStage<String> ignoringStage(String id) {
			return start().minimalCompletionStage();
		}

		@DistributedLock(name = "held", key = "#id", onLost = OnLost.IGNORE)
		Mono<String> ignoringMono(String id) {
			return startMono();
		}

		@DistributedLock(name = "held", key = "#id", onLost = OnLost.IGNORE)
		Flux<String> ignoringFlux(String id) {
			return startMono().flux();
		}

		@DistributedLock(name = "held", key = "#id", onLost = OnLost.INTERRUPT)
		CompletableFuture<String> interruptedFuture(String id) {
			return start();
		}

		@DistributedLock(name = "held", key = "#id", onLost = OnLost.INTERRUPT)
		CompletionStage<String> interruptedStage(String id) {
			return start().minimalCompletionStage();
		}

		@DistributedLock(name = "held", key = "#id", onLost = OnLost.INTERRUPT)
		Mono<String> interruptedMono(String id) {
			return startMono();
		}

		@DistributedLock(name = "held", key = "#id", onLost = OnLost.INTERRUPT)
		Flux<String> interruptedFlux(String id) {
			return startMono().flux();
		}

		@DistributedLock(name = "held", key = "#id", waitTime = "0")
		CompletableFuture<String> impatientFuture(String id) {
			return start();
		}

		@DistributedLock(name = "held", key = "#id", waitTime = "0")
		CompletionStage<String> impatientStage(String id) {
			return start();
		}

		@DistributedLock(name = "held", key = "#id", waitTime = "0")
		Mono<String> impatientMono(String id) {
			return startMono();
		}

		@DistributedLock(name = "held", key = "#id", waitTime = "0")
		Publisher<String> impatientPublisher(String id) {
			return startMono();
		}

		@DistributedLock(name = "held", key = "#id")
		CompletableFuture<String> failing(String id) {
			throw this.failure;
		}

		@DistributedLock(name = "held", key = "#id")
		CompletableFuture<String> nothing(String id) {
			return null;
		}

		@DistributedLock(name = "held", key = "#id")
		Mono<FencingToken> token(String id) {
			FencingToken onThread = LockContext.current().fencingToken();
			return ReactiveLockContext.current()
				.map(LockLease::fencingToken)
				.doOnNext((token) -> assertThat(token).isEqualTo(onThread));
		}

		@DistributedLock(name = "held", key = "#id", waitTime = "0")
		Mono<String> nesting(String id, Work proxy) {
			return proxy.token(id)
				.zipWith(ReactiveLockContext.current().map(LockLease::fencingToken))
				.doOnNext((tokens) -> assertThat(tokens.getT1()).isEqualTo(tokens.getT2()))
				.then(proxy.impatientMono(id));
		}

	}

}
