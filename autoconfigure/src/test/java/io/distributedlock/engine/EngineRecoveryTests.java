package io.distributedlock.engine;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockListener;
import io.distributedlock.LockMode;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.event.LockEventPublisher;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.engine.queue.RunningRequest;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What fails inside the engine, or breaks the contract of a provider, ends one request or
 * one renewal, and leaves nothing behind.
 */
@ExtendWith(OutputCaptureExtension.class)
class EngineRecoveryTests {

	private static final LockKey KEY = ManualEngine.KEY;

	private final LockTimer timer = new LockTimer();

	@AfterEach
	void stop() {
		this.timer.close();
	}

	@Test
	void requestThatFailsOnArrivalBlocksNoLaterOne() {
		ManualEngine manual = new ManualEngine(true);
		manual.environment.failNextOwnerId(new StackOverflowError());
		ManualRequester failing = manual.requester();
		assertThatExceptionOfType(StackOverflowError.class).isThrownBy(failing::step);
		failing.request.abandon();
		ManualRequester next = manual.requester();
		assertThat(next.step()).isTrue();
		next.release();
		manual.checkNothingRemains();
	}

	@Test
	void requestThatDoesNotWaitLearnsThatAFirstAttemptWasGranted() {
		ManualEngine manual = new ManualEngine(false);
		ManualRequester first = manual.requester();
		ManualRequester late = manual.requester(ManualEngine.REQUEST.withWaitTime(Duration.ZERO));
		assertThat(first.step()).isFalse();
		assertThat(late.request.step()).isEqualTo(RunningRequest.Progress.WAIT);
		manual.provider.answer(ManualEngine.KEY);
		assertThat(first.step()).isTrue();
		assertThat(late.isSignalled()).isTrue();
		assertThat(late.request.step()).isEqualTo(RunningRequest.Progress.BUSY);
	}

	@Test
	void answerThatAnotherRequestHasHandledIsTheRequestersAllTheSame() {
		ManualEngine manual = new ManualEngine(false);
		ManualRequester first = manual.requester();
		ManualRequester next = manual.requester();
		assertThat(first.step()).isFalse();
		assertThat(next.step()).isFalse();
		manual.provider.answer(ManualEngine.KEY);
		assertThat(next.step()).isFalse();
		assertThat(first.isHeld()).isTrue();
		assertThat(first.step()).isTrue();
	}

	@Test
	void engineThatStopsMakesNoFirstAttempt() {
		ManualEngine manual = new ManualEngine(false);
		manual.engine.beginStop();
		ManualRequester refused = manual.requester();
		assertThat(refused.stepOrFail()).isFalse();
		assertThat(refused.hasFailed()).isTrue();
		assertThat(manual.provider.hasAttempt()).isFalse();
		manual.checkNothingRemains();
	}

	@Test
	void requestBehindAWaiterIsToldNoAnswerFromBeforeItArrived() {
		ManualEngine manual = new ManualEngine(false);
		manual.provider.takeElsewhere();
		ManualRequester head = manual.requester();
		head.step();
		manual.provider.answer(KEY);
		head.step();
		ManualRequester late = manual.requester(ManualEngine.REQUEST.withWaitTime(Duration.ZERO));
		assertThat(late.request.step()).isEqualTo(RunningRequest.Progress.WAIT);
		assertThat(head.isSignalled()).isTrue();
		head.step();
		manual.provider.fail();
		assertThat(late.hasFailed()).isTrue();
	}

	static Stream<Function<AttemptResult, AttemptResult>> answersOutOfContract() {
		return Stream.of(EngineRecoveryTests::withoutValidity, (answer) -> new AttemptResult.Busy(null, null));
	}

	@SuppressWarnings("NullAway") // as a faulty provider answers
	private static AttemptResult withoutValidity(AttemptResult answer) {
		LockGrant grant = ((AttemptResult.Granted) answer).grant();
		return new AttemptResult.Granted(new LockGrant(grant.key(), grant.owner(), grant.order(), null));
	}

	@ParameterizedTest
	@MethodSource("answersOutOfContract")
	void answerThatCannotBeUsedIsToldAndItsGrantReleased(Function<AttemptResult, AttemptResult> faulty) {
		ScriptedLockProvider provider = new ScriptedLockProvider();
		try (LockTemplate locks = new LockTemplate(provider, LockSettings.defaults(), this.timer, List.of(),
				List.of())) {
			LockRequest request = LockRequest.of(KEY).withWaitTime(Duration.ofSeconds(30));
			provider.onAttempt = faulty;
			assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> locks.acquire(request))
				.withCauseInstanceOf(NullPointerException.class);
			provider.onAttempt = null;
			OwnerId unusable = provider.attempts.get(0);
			await().until(() -> provider.releases.contains(unusable));
			locks.acquire(request).close();
		}
	}

	@Test
	void releaseWithoutAnswerAfterAStopIsNotSaidToBeRepeated(CapturedOutput output) {
		ScriptedLockProvider provider = new ScriptedLockProvider();
		try (LockTemplate locks = new LockTemplate(provider, LockSettings.defaults(), this.timer, List.of(),
				List.of())) {
			LockLease lease = locks.acquire(LockRequest.of(LockKey.of("after", "stop")));
			locks.stop(Duration.ZERO);
			provider.onRelease = (owner) -> ReleaseOutcome.UNKNOWN;
			lease.close();
			assertThat(output.toString().lines().filter((line) -> line.contains("'after:stop'"))).singleElement()
				.asString()
				.contains("did not confirm the release")
				.doesNotContain("repeated");
		}
	}

	@ParameterizedTest(name = "blocking provider: {0}")
	@ValueSource(booleans = { false, true })
	void groupOfRenewalsWhoseBookkeepingFailsIsRenewedAgain(boolean blocking) {
		ScriptedLockProvider provider = new ScriptedLockProvider(blocking);
		ManualEnvironment environment = new ManualEnvironment();
		LockEngine engine = engine(provider, environment);
		assertThat(new ManualRequester(engine, LockRequest.of(KEY), true).step()).isTrue();
		HeldGrant grant = engine.context().heldGrants().all().iterator().next();
		provider.onRenew = (leases, timeout) -> new HashMap<>() {

			@Override
			public RenewalOutcome getOrDefault(Object key, RenewalOutcome absent) {
				throw new StackOverflowError();
			}

		};
		renewAfter(environment, Duration.ofSeconds(11));
		assertThat(provider.renewals).hasSize(1);
		assertThat(grant.isRenewing()).isFalse();
		assertThat(grant.renewalNanos()).isGreaterThan(environment.nanoTime());
		renewAfter(environment, Duration.ofSeconds(5));
		assertThat(provider.renewals).hasSize(2);
	}

	private static LockEngine engine(ScriptedLockProvider provider, ManualEnvironment environment) {
		return new LockEngine(provider, LockSettings.defaults(), environment,
				new LockEventPublisher(environment, List.of(), List.of()), EnclosingTransaction.NONE, () -> {
				});
	}

	private static void renewAfter(ManualEnvironment environment, Duration time) {
		environment.advance(time.toNanos());
		environment.runSignals();
		environment.runTasks();
	}

	@Test
	void keyWhoseNodeCannotBeToldIsRenewedWithTheOthers() {
		ScriptedLockProvider provider = new ScriptedLockProvider();
		ManualEnvironment environment = new ManualEnvironment();
		LockEngine engine = engine(provider, environment);
		List<LockKey> keys = List.of(KEY, LockKey.of("seats", "odd"));
		keys.forEach((key) -> assertThat(new ManualRequester(engine, LockRequest.of(key), true).step()).isTrue());
		provider.node = (key) -> {
			if (!key.equals(KEY)) {
				throw new IllegalStateException("which node?");
			}
			return "node";
		};
		renewAfter(environment, Duration.ofSeconds(11));
		assertThat(provider.renewals.stream().flatMap((batch) -> batch.keySet().stream()).map(LockGrant::key))
			.containsExactlyInAnyOrderElementsOf(keys);
	}

	@Test
	void slowListenersAreLoggedOnceUntilTheyHaveCaughtUp(CapturedOutput output) {
		ManualEnvironment environment = new ManualEnvironment();
		LockListener listener = new LockListener() {

			@Override
			public void onBusy(LockKey key, LockMode mode, Duration waited, @Nullable LockHolder holder) {
			}

		};
		LockEventPublisher events = new LockEventPublisher(environment, List.of(), List.of(listener));
		for (int times = 1; times <= 2; times++) {
			IntStream.range(0, 10_100).forEach((number) -> events.busy(KEY, LockMode.EXCLUSIVE, 0, null));
			environment.runTasks();
			assertThat(output.toString().lines().filter((line) -> line.contains("Lock listeners are too slow")).count())
				.isEqualTo(times);
		}
	}

}
