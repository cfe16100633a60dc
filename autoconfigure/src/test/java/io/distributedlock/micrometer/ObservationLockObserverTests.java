package io.distributedlock.micrometer;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.ObservationContextAssert;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockMode;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.local.LocalStore;
import io.distributedlock.provider.AcquireObserver;
import io.distributedlock.provider.AcquireOutcome;
import io.distributedlock.provider.HoldObserver;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

class ObservationLockObserverTests {

	private static final String ACQUIRE = "distributed.lock.acquire";

	private static final String HOLD = "distributed.lock.hold";

	private static final LockKey KEY = LockKey.of("orders", "7");

	private static final LockRequest REQUEST = LockRequest.of(KEY);

	private final TestObservationRegistry registry = TestObservationRegistry.create();

	private final MeterRegistry meters = new SimpleMeterRegistry();

	private final ObservationLockObserver observer = observer(this.registry);

	private final LockTimer timer = new LockTimer();

	private final LockTemplate locks = new LockTemplate(new LocalLockProvider(new LocalStore()),
			LockSettings.defaults(), this.timer, List.of(this.observer), List.of());

	private static ObservationLockObserver observer(ObservationRegistry registry) {
		return new ObservationLockObserver(registry, "local", new DefaultLockAcquireObservationConvention(),
				new DefaultLockHoldObservationConvention());
	}

	@AfterEach
	void close() {
		this.locks.close();
		this.timer.close();
	}

	/** Returns an observer whose observations are meters only. */
	private ObservationLockObserver metered() {
		ObservationRegistry metered = ObservationRegistry.create();
		metered.observationConfig().observationHandler(new DefaultMeterObservationHandler(this.meters));
		return observer(metered);
	}

	private AcquireObserver start(ObservationLockObserver started, LockKey key) {
		return Objects.requireNonNull(started.onAcquireStart(key));
	}

	private HoldObserver acquire(ObservationLockObserver observer, LockKey key) {
		AcquireObserver request = start(observer, key);
		request.onEnd(AcquireOutcome.ACQUIRED, null);
		return Objects.requireNonNull(request.onHoldStart(FencingToken.of(7, 0)));
	}

	@Test
	void keyAndTokenAreOnTracesOnly() {
		String token = this.locks.execute(REQUEST, (lease) -> lease.fencingToken().toString());
		TestObservationRegistryAssert.assertThat(this.registry)
			.hasObservationWithNameEqualTo(ACQUIRE)
			.that()
			.hasContextualNameEqualTo("acquire orders")
			.hasLowCardinalityKeyValue("lock.name", "orders")
			.hasLowCardinalityKeyValue("lock.provider", "local")
			.hasLowCardinalityKeyValue("outcome", "acquired")
			.hasHighCardinalityKeyValue("lock.key", "orders:7")
			.doesNotHaveError()
			.hasBeenStopped();
		TestObservationRegistryAssert.assertThat(this.registry)
			.hasObservationWithNameEqualTo(HOLD)
			.that()
			.hasContextualNameEqualTo("hold orders")
			.hasSubsetOfKeys("lock.name", "lock.provider", "lock.mode", "outcome", "lock.key", "lock.token")
			.hasLowCardinalityKeyValue("outcome", "released")
			.hasHighCardinalityKeyValue("lock.token", token)
			.doesNotHaveError()
			.hasBeenStopped();
	}

	@Test
	void modeIsATag() {
		this.locks.execute(REQUEST.withPermits(2), (lease) -> null);
		for (String name : List.of(ACQUIRE, HOLD)) {
			TestObservationRegistryAssert.assertThat(this.registry)
				.hasObservationWithNameEqualTo(name)
				.that()
				.hasLowCardinalityKeyValue("lock.mode", "permit");
		}
	}

	@Test
	void busyLockIsNoError() throws Exception {
		try (LockLease held = this.locks.acquire(REQUEST)) {
			CompletableFuture.runAsync(() -> this.locks.tryAcquire(REQUEST.withWaitTime(Duration.ZERO)))
				.get(1, TimeUnit.MINUTES);
			assertThat(held.isHeld()).isTrue();
		}
		TestObservationRegistryAssert.assertThat(this.registry)
			.hasAnObservation((observation) -> observation.hasNameEqualTo(ACQUIRE)
				.hasLowCardinalityKeyValue("outcome", "busy")
				.doesNotHaveError());
	}

	@Test
	void failedRequestCarriesItsError() {
		this.locks.beginStop();
		Throwable failure = catchThrowable(() -> this.locks.acquire(REQUEST));
		assertThat(failure).isInstanceOf(LockProviderException.class);
		TestObservationRegistryAssert.assertThat(this.registry)
			.hasObservationWithNameEqualTo(ACQUIRE)
			.that()
			.hasLowCardinalityKeyValue("outcome", "failed")
			.hasError(failure);
	}

	@Test
	void lostHoldCarriesItsLoss() {
		assertThat(catchThrowable(() -> this.locks.execute(REQUEST, (lease) -> {
			this.locks.forceRelease(KEY);
			await().until(() -> isStopped(HOLD));
			return null;
		}))).isInstanceOf(LockLostException.class);
		TestObservationRegistryAssert.assertThat(this.registry)
			.hasObservationWithNameEqualTo(HOLD)
			.that()
			.hasLowCardinalityKeyValue("outcome", "lost")
			.hasError()
			.thenError()
			.isInstanceOf(LockLostException.class);
		assertThat(this.registry.getCurrentObservation()).isNull();
	}

	private boolean isStopped(String name) {
		return catchThrowable(() -> TestObservationRegistryAssert.assertThat(this.registry)
			.hasObservationWithNameEqualTo(name)
			.that()
			.hasBeenStopped()) == null;
	}

	@Test
	void bodyRunsInsideItsHold() {
		Observation caller = Observation.start("caller", this.registry);
		caller.scoped(() -> {
			this.locks.execute(REQUEST, (lease) -> {
				Observation hold = Objects.requireNonNull(this.registry.getCurrentObservation());
				assertThat(hold.getContextView().getName()).isEqualTo(HOLD);
				assertThat(hold.getContextView().getParentObservation()).isSameAs(caller);
				return null;
			});
			assertThat(this.registry.getCurrentObservation()).isSameAs(caller);
		});
		caller.stop();
		assertThat(this.registry.getCurrentObservation()).isNull();
	}

	@Test
	void handedOffHoldBelongsToItsOwnRequest() throws Exception {
		Observation holder = Observation.start("holder", this.registry);
		CompletableFuture<Void> waiter;
		try (Observation.Scope scope = holder.openScope()) {
			LockLease held = this.locks.acquire(REQUEST);
			waiter = CompletableFuture.completedFuture(null)
				.thenComposeAsync((none) -> this.locks.acquireAsync(REQUEST, List.of()))
				.thenAccept(LockLease::close);
			await().until(() -> !this.locks.snapshot().waiting().isEmpty());
			held.close();
		}
		waiter.get(1, TimeUnit.MINUTES);
		holder.stop();
		TestObservationRegistryAssert.assertThat(this.registry)
			.hasNumberOfObservationsWithNameEqualTo(HOLD, 2)
			.hasAnObservation((observation) -> observation.hasNameEqualTo(HOLD).hasParentObservationEqualTo(holder))
			.hasAnObservation(ObservationLockObserverTests::assertHoldOfARequest);
	}

	private static void assertHoldOfARequest(ObservationContextAssert<?> observation) {
		observation.hasNameEqualTo(HOLD)
			.hasParentObservationContextMatching((parent) -> parent.getName().equals(ACQUIRE));
	}

	@Test
	void handlerThatFailsLeavesNoScope() {
		ObservationRegistry failing = ObservationRegistry.create();
		failing.observationConfig().observationHandler(new FailingHandler());
		HoldObserver hold = acquire(observer(failing), KEY);
		assertThat(catchThrowable(hold::openScope)).hasMessage("opened");
		assertThat(failing.getCurrentObservation()).isNull();
	}

	@Test
	void observationEndsAlthoughAHandlerFailsWithItsError() {
		ObservationRegistry failing = ObservationRegistry.create();
		failing.observationConfig()
			.observationHandler(new FailingHandler())
			.observationHandler(new DefaultMeterObservationHandler(this.meters));
		HoldObserver hold = acquire(observer(failing), KEY);
		assertThat(catchThrowable(() -> hold.onEnd(LossReason.EXPIRED))).hasMessage("error");
		AcquireObserver request = start(observer(failing), KEY);
		assertThat(catchThrowable(() -> request.onEnd(AcquireOutcome.FAILED, new IllegalStateException("down"))))
			.hasMessage("error");
		assertThat(this.meters.get(HOLD + ".active").longTaskTimer().activeTasks()).isZero();
		assertThat(this.meters.get(ACQUIRE + ".active").longTaskTimer().activeTasks()).isZero();
	}

	@Test
	void observationsBecomeTimersAndGauges() {
		HoldObserver hold = acquire(metered(), KEY);
		start(metered(), KEY);
		assertThat(this.meters.get(ACQUIRE).tags("outcome", "acquired", "error", "none").timer().count()).isEqualTo(1);
		assertThat(this.meters.get(ACQUIRE + ".active").tags("lock.name", "orders").longTaskTimer().activeTasks())
			.isEqualTo(1);
		assertThat(this.meters.get(HOLD + ".active").tags("lock.provider", "local").longTaskTimer().activeTasks())
			.isEqualTo(1);
		hold.onEnd(LossReason.EXPIRED);
		assertThat(this.meters.get(HOLD + ".active").longTaskTimer().activeTasks()).isZero();
		assertThat(this.meters.get(HOLD).tags("outcome", "lost", "error", "LockLostException").timer().count())
			.isEqualTo(1);
	}

	@Test
	void registeredTimersAreThoseOfTheObservations() {
		ObservationLockObserver metered = metered();
		new LockMeterRegistration(this.meters, metered).register("orders", "local", LockMode.EXCLUSIVE);
		int registered = this.meters.getMeters().size();
		assertThat(registered).isEqualTo(AcquireOutcome.values().length + 4);
		for (AcquireOutcome outcome : AcquireOutcome.values()) {
			Throwable failure = (outcome != AcquireOutcome.FAILED) ? null : catchThrowable(() -> {
				this.locks.beginStop();
				this.locks.acquire(REQUEST);
			});
			start(metered, KEY).onEnd(outcome, failure);
		}
		acquire(metered, KEY).onEnd(null);
		acquire(metered, KEY).onEnd(LossReason.FORCED);
		assertThat(this.meters.getMeters()).hasSize(registered);
	}

	@Test
	void manyKeysLeaveTheNumberOfMetersAsItIs() {
		ObservationLockObserver metered = metered();
		acquire(metered, KEY).onEnd(null);
		int before = this.meters.getMeters().size();
		for (int i = 0; i < 100_000; i++) {
			acquire(metered, LockKey.of("orders", Integer.toString(i))).onEnd(null);
		}
		assertThat(this.meters.getMeters()).hasSize(before)
			.allSatisfy(
					(meter) -> assertThat(meter.getId().getTags()).noneMatch((tag) -> tag.getValue().contains("7")));
	}

	@Test
	void namesBeyondTheCapShareTheirTimers() {
		ObservationLockObserver metered = metered();
		for (int i = 0; i < 2 * LockNames.MAX_NAMES; i++) {
			acquire(metered, LockKey.of("name-" + i)).onEnd(null);
		}
		assertThat(this.meters.get(HOLD).timers()).hasSize(LockNames.MAX_NAMES + 1);
		assertThat(this.meters.get(HOLD).tags("lock.name", LockNames.OTHER).timer().count())
			.isEqualTo(LockNames.MAX_NAMES);
	}

	@Test
	void registryWithoutHandlersCostsNothing() {
		assertThat(observer(ObservationRegistry.create()).onAcquireStart(KEY)).isNull();
		assertThat(observer(ObservationRegistry.NOOP).onAcquireStart(KEY)).isNull();
	}

	@Test
	void disabledHoldsAreNotObserved() {
		ObservationRegistry partly = ObservationRegistry.create();
		partly.observationConfig()
			.observationHandler(new DefaultMeterObservationHandler(this.meters))
			.observationPredicate((name, context) -> !name.equals(HOLD));
		AcquireObserver request = start(observer(partly), KEY);
		assertThat(request.onHoldStart(FencingToken.of(7, 0))).isNull();
		request.onEnd(AcquireOutcome.BUSY, null);
		assertThat(this.meters.get(ACQUIRE).timer().count()).isEqualTo(1);
	}

	@Test
	void documentedNamesAreThoseOfTheConventions() {
		assertThat(LockObservationDocumentation.ACQUIRE.getDefaultConvention())
			.isEqualTo(DefaultLockAcquireObservationConvention.class);
		assertThat(LockObservationDocumentation.HOLD.getDefaultConvention())
			.isEqualTo(DefaultLockHoldObservationConvention.class);
		LockHoldObservationContext context = this.observer.observations()
			.holdContext(KEY, LockMode.EXCLUSIVE, FencingToken.of(7, 0));
		context.setOutcome(LockHoldObservationContext.RELEASED);
		LockHoldObservationConvention convention = new DefaultLockHoldObservationConvention();
		assertThat(convention.getLowCardinalityKeyValues(context)).extracting("key")
			.containsExactlyInAnyOrderElementsOf(List.of(LockObservationDocumentation.HOLD.getLowCardinalityKeyNames())
				.stream()
				.map((name) -> name.asString())
				.toList());
	}

}
