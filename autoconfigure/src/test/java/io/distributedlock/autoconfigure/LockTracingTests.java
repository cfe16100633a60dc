package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.test.simple.SimpleSpan;
import io.micrometer.tracing.test.simple.SimpleTracer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.distributedlock.LockKey;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.autoconfigure.observe.LockMdcAutoConfiguration;
import io.distributedlock.autoconfigure.observe.LockObservationAutoConfiguration;
import io.distributedlock.reactive.ReactiveLockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests of the tree of spans: those of a request and its hold are children of the
 * caller's, and those of the body are children of the hold's.
 */
class LockTracingTests {

	private static final String IN_CONTEXT = "micrometer.observation";

	private static final LockRequest REQUEST = LockRequest.of(LockKey.of("orders", "7"));

	private final SimpleTracer tracer = new SimpleTracer();

	private final ObservationRegistry registry = ObservationRegistry.create();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LockObservationAutoConfiguration.class, LockMdcAutoConfiguration.class))
		.withPropertyValues("distributed-lock.provider=local")
		.withBean(ObservationRegistry.class, () -> this.registry)
		.withBean(Orders.class);

	LockTracingTests() {
		this.registry.observationConfig().observationHandler(new DefaultTracingObservationHandler(this.tracer));
	}

	/** Runs a call inside a span, and checks the tree that comes of it. */
	private void check(Call call) {
		this.runner.run((context) -> {
			Observation caller = Observation.createNotStarted("caller", this.registry);
			caller.observeChecked(() -> call.run(context.getBean(LockOperations.class), context.getBean(Orders.class)));
			checkTree();
		});
	}

	private void checkTree() {
		await().atMost(Duration.ofMinutes(1))
			.untilAsserted(() -> assertThat(this.tracer.getSpans()).hasSize(4)
				.allSatisfy(
						(span) -> assertThat(span.getEndTimestamp()).isAfter(span.getStartTimestamp().minusNanos(1))));
		SimpleSpan caller = span("caller");
		SimpleSpan hold = span("hold orders");
		assertThat(span("acquire orders").getParentId()).isEqualTo(caller.getSpanId());
		assertThat(hold.getParentId()).isEqualTo(caller.getSpanId());
		assertThat(span("body").getParentId()).isEqualTo(hold.getSpanId());
		assertThat(hold.getTags()).containsEntry("lock.key", "orders:7")
			.containsEntry("outcome", "released")
			.containsKey("lock.token");
		assertThat(this.tracer.currentSpan()).isNull();
		assertThat(this.registry.getCurrentObservation()).isNull();
	}

	private SimpleSpan span(String name) {
		return this.tracer.getSpans().stream().filter((span) -> name.equals(span.getName())).findFirst().orElseThrow();
	}

	private static void body(ObservationRegistry registry) {
		Observation.createNotStarted("body", registry).observe(() -> {
		});
	}

	private static Mono<String> reactiveBody(ObservationRegistry registry) {
		return Mono.delay(Duration.ofMillis(1)).then(Mono.deferContextual((context) -> {
			Observation body = Observation.createNotStarted("body", registry)
				.parentObservation(context.get(IN_CONTEXT))
				.start();
			body.stop();
			return Mono.just("done");
		}));
	}

	@Test
	void bodyOfExecuteIsBelowItsHold() {
		check((locks, orders) -> locks.execute(REQUEST, (lease) -> {
			body(this.registry);
			return null;
		}));
	}

	@Test
	void annotatedMethodIsBelowItsHold() {
		check((locks, orders) -> orders.pay(7));
	}

	@Test
	void startOfAStageIsBelowItsHold() {
		check((locks, orders) -> locks.executeAsync(REQUEST, (lease) -> {
			body(this.registry);
			return CompletableFuture.supplyAsync(() -> "done");
		}));
	}

	@Test
	void annotatedStageIsBelowItsHold() {
		check((locks, orders) -> orders.payLater(7));
	}

	@Test
	void flowIsBelowItsHold() {
		check((locks, orders) -> new ReactiveLockTemplate(locks)
			.execute(REQUEST, (lease) -> reactiveBody(this.registry))
			.contextWrite((context) -> context.put(IN_CONTEXT, this.registry.getCurrentObservation()))
			.block(Duration.ofMinutes(1)));
	}

	@Test
	void flowLocksAndReleasesAlthoughAHandlerOfItsCallerFails() {
		ObservationRegistry failing = ObservationRegistry.create();
		failing.observationConfig().observationHandler(new FailingScopes());
		Observation caller = Observation.start("caller", failing);
		this.runner.run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			for (int i = 0; i < 2; i++) {
				assertThat(new ReactiveLockTemplate(locks)
					.execute(REQUEST.withWaitTime(Duration.ZERO), (lease) -> Mono.just("done"))
					.contextWrite((flow) -> flow.put(IN_CONTEXT, caller))
					.block(Duration.ofMinutes(1))).isEqualTo("done");
				assertThat(failing.getCurrentObservation()).isNull();
			}
		});
	}

	@Test
	void annotatedFlowIsBelowItsHold() {
		check((locks, orders) -> {
			Observation caller = this.registry.getCurrentObservation();
			CompletableFuture<@Nullable String> paid = CompletableFuture.supplyAsync(() -> orders.payInFlow(7)
				.contextWrite((context) -> context.put(IN_CONTEXT, caller))
				.block(Duration.ofMinutes(1)));
			assertThat(paid).succeedsWithin(Duration.ofMinutes(1)).isEqualTo("done");
		});
	}

	@Test
	void severalKeysAreBelowTheirCaller() {
		LockRequest both = LockRequest.ofAll(List.of(LockKey.of("orders", "7"), LockKey.of("orders", "8")));
		this.runner.run((context) -> {
			Observation caller = Observation.start("caller", this.registry);
			try (Observation.Scope scope = caller.openScope()) {
				context.getBean(LockOperations.class).acquireAsync(both, List.of()).join().close();
			}
			caller.stop();
			assertThat(this.tracer.getSpans()).hasSize(5)
				.filteredOn((span) -> !span.getName().equals("caller"))
				.allSatisfy((span) -> assertThat(span.getParentId()).isEqualTo(span("caller").getSpanId()));
		});
	}

	/** A handler that fails whenever a scope is closed. */
	private static final class FailingScopes implements ObservationHandler<Observation.Context> {

		@Override
		public void onScopeClosed(Observation.Context context) {
			throw new IllegalStateException("closed");
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			return true;
		}

	}

	/** A call that takes a lock. */
	private interface Call {

		void run(LockOperations locks, Orders orders);

	}

	static class Orders {

		private final ObservationRegistry registry;

		Orders(ObservationRegistry registry) {
			this.registry = registry;
		}

		@DistributedLock(name = "orders", key = "#p0")
		public void pay(int number) {
			body(this.registry);
		}

		@DistributedLock(name = "orders", key = "#p0")
		public CompletableFuture<String> payLater(int number) {
			body(this.registry);
			return CompletableFuture.supplyAsync(() -> "done");
		}

		@DistributedLock(name = "orders", key = "#p0")
		public Mono<String> payInFlow(int number) {
			return reactiveBody(this.registry);
		}

	}

}
