package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;

import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.testkit.StoreFaults.Command;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.WireFault;
import io.distributedlock.testkit.WireFault.Effect;

import static io.distributedlock.testkit.StoreCalls.outcomeOf;
import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests of {@link FreeLockCalls} through a provider.
 */
class FreeLockCallsTests {

	private static final Duration LEASE = Duration.ofSeconds(60);

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	/** More than a machine stalls, and less than a client endures a silent server. */
	private static final Duration SOON = Duration.ofSeconds(5);

	private ZooKeeperFixture fixture;

	private ZooKeeperFaults faults;

	private TcpProxy proxy;

	private ZooKeeperLockProvider process;

	private ZooKeeperLockProvider rival;

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final LockKey key = LockKey.of("free", "key");

	private final OwnerId owner = OwnerId.random();

	/** Not in the fields: the instance for a test that is disabled is never closed. */
	@BeforeEach
	void open() {
		this.fixture = new ZooKeeperFixture(TestZooKeeper.connectString(), Duration.ofSeconds(20));
		this.faults = new ZooKeeperFaults(this.fixture);
		this.proxy = new TcpProxy(this.faults.servers().get(0));
		this.process = (ZooKeeperLockProvider) this.faults.newProcess(this.proxy);
		this.rival = this.fixture.newProcess();
		this.process.check(PATIENCE);
	}

	@AfterEach
	void close() {
		this.threads.shutdownNow();
		this.fixture.close();
		this.proxy.close();
	}

	private LockContender contender(ZooKeeperLockProvider of) {
		return of.newContender(this.key, () -> {
			// Ignored: the test attempts by itself.
		});
	}

	private StoreCall<AttemptResult> attempt(Duration timeout) {
		return contender(this.process).attemptBlocking(this.owner, LEASE, false, timeout);
	}

	private LockGrant acquire() {
		StoreCall<AttemptResult> call = attempt(PATIENCE);
		assertThat(call.isDone()).isTrue();
		return ((AttemptResult.Granted) call.result()).grant();
	}

	private AttemptResult rivalAttempt(boolean willWait) {
		return resultOf(contender(this.rival).attempt(OwnerId.random(), LEASE, willWait, PATIENCE), PATIENCE);
	}

	private void assertNothingRemains() {
		await().atMost(PATIENCE).until(() -> this.process.undecided().size() == 0 && this.fixture.heldEntries() == 0);
	}

	@Test
	void freeLockIsAcquiredAndReleasedAtOnce() {
		for (int round = 0; round < 3; round++) {
			LockGrant grant = acquire();
			assertThat(grant.order()).isPositive();
			assertThat(grant.sessionDeadline()).isSameAs(this.process.sessions().present());
			assertThat(rivalAttempt(false)).isInstanceOf(AttemptResult.Busy.class);
			StoreCall<ReleaseOutcome> release = this.process.releaseBlocking(grant, PATIENCE);
			assertThat(release.isDone()).isTrue();
			assertThat(release.result()).isEqualTo(ReleaseOutcome.RELEASED);
			assertThat(outcomeOf(this.process.releaseBlocking(grant, PATIENCE), PATIENCE))
				.isEqualTo(ReleaseOutcome.NOT_HELD);
		}
		assertThat(this.process.sessions().present().bytes()).isZero();
		assertNothingRemains();
	}

	@Test
	void deletedLockNodeIsNotHeld() {
		LockGrant grant = acquire();
		this.fixture.expire(this.key);
		assertThat(this.process.releaseBlocking(grant, PATIENCE).result()).isEqualTo(ReleaseOutcome.NOT_HELD);
	}

	@Test
	void busyLockIsFoundBusyAndWaitedFor() {
		LockGrant held = ((AttemptResult.Granted) rivalAttempt(false)).grant();
		assertThat(resultOf(attempt(PATIENCE), PATIENCE)).isInstanceOfSatisfying(AttemptResult.Busy.class,
				(busy) -> assertThat(busy.holder()).isNotNull());
		LockContender waiting = contender(this.process);
		assertThat(resultOf(waiting.attemptBlocking(this.owner, LEASE, true, PATIENCE), PATIENCE))
			.isInstanceOf(AttemptResult.Busy.class);
		assertThat(outcomeOf(this.rival.releaseBlocking(held, PATIENCE), PATIENCE)).isEqualTo(ReleaseOutcome.RELEASED);
		AttemptResult next = resultOf(waiting.attemptBlocking(this.owner, LEASE, true, PATIENCE), PATIENCE);
		LockGrant grant = ((AttemptResult.Granted) next).grant();
		assertThat(outcomeOf(this.process.releaseBlocking(grant, PATIENCE), PATIENCE))
			.isEqualTo(ReleaseOutcome.RELEASED);
		assertNothingRemains();
	}

	@Test
	void releaseOfALockThatARivalWaitsForReservesIt() {
		LockGrant grant = acquire();
		LockContender waiting = contender(this.rival);
		assertThat(resultOf(waiting.attempt(OwnerId.random(), LEASE, true, PATIENCE), PATIENCE))
			.isInstanceOf(AttemptResult.Busy.class);
		assertThat(outcomeOf(this.process.releaseBlocking(grant, PATIENCE), PATIENCE))
			.isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(resultOf(waiting.attempt(OwnerId.random(), LEASE, true, PATIENCE), PATIENCE))
			.isInstanceOf(AttemptResult.Granted.class);
	}

	@Test
	void lockNodeOfALostAcquireIsReleasedAndTheNextOneIsNot() {
		this.proxy.onReplyTo(this.faults.packet(Command.ACQUIRE, this.key), Effect.CUT).once();
		StoreCall<AttemptResult> lost = attempt(PATIENCE);
		assertThat(lost.isDone()).isTrue();
		assertThat(lost.mayHaveBeenSent()).isTrue();
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(lost::result);
		LockGrant grant = acquireAfterAnOutage();
		assertThat(outcomeOf(this.process.release(this.key, this.owner, PATIENCE), PATIENCE))
			.isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(rivalAttempt(false)).isInstanceOf(AttemptResult.Busy.class);
		assertThat(this.process.releaseBlocking(grant, PATIENCE).result()).isEqualTo(ReleaseOutcome.RELEASED);
		assertNothingRemains();
	}

	private LockGrant acquireAfterAnOutage() {
		return ((AttemptResult.Granted) await().atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(LockException.class)
			.until(() -> resultOf(contender(this.process).attemptBlocking(OwnerId.random(), LEASE, false, PATIENCE),
					PATIENCE), AttemptResult.Granted.class::isInstance))
			.grant();
	}

	@Test
	void rivalKeepsItsLockAfterALostAnswerToARelease() {
		LockGrant grant = acquire();
		this.proxy.onReplyTo(this.faults.packet(Command.RELEASE, this.key), Effect.CUT).once();
		StoreCall<ReleaseOutcome> release = this.process.releaseBlocking(grant, PATIENCE);
		assertThat(release.isDone()).isFalse();
		LockGrant next = ((AttemptResult.Granted) rivalAttempt(false)).grant();
		assertThat(outcomeOf(release, PATIENCE)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(outcomeOf(this.rival.release(next, PATIENCE), PATIENCE)).isEqualTo(ReleaseOutcome.RELEASED);
		assertNothingRemains();
	}

	@Test
	void interruptEndsTheWaitAndTheAttemptGoesOn() throws Exception {
		WireFault held = this.proxy.onRequest(this.faults.packet(Command.ACQUIRE, this.key), Effect.HOLD).once();
		InterruptedCall<AttemptResult> call = interrupt(held, () -> attempt(PATIENCE));
		assertThat(call.call().isDone()).isFalse();
		assertThat(call.call().mayHaveBeenSent()).isTrue();
		held.close();
		AttemptResult result = resultOf(call.call(), PATIENCE);
		assertThat(result).isInstanceOf(AttemptResult.Granted.class);
		assertThat(this.process.releaseBlocking(((AttemptResult.Granted) result).grant(), PATIENCE).result())
			.isEqualTo(ReleaseOutcome.RELEASED);
		assertNothingRemains();
	}

	@Test
	void attemptThatIsAbandonedAfterAnInterruptLeavesNothing() throws Exception {
		WireFault held = this.proxy.onRequest(this.faults.packet(Command.ACQUIRE, this.key), Effect.HOLD).once();
		interrupt(held, () -> attempt(PATIENCE)).call().abandon();
		held.close();
		assertNothingRemains();
	}

	@Test
	void interruptedReleaseIsDecidedByARead() throws Exception {
		LockGrant grant = acquire();
		WireFault held = this.proxy.onRequest(this.faults.packet(Command.RELEASE, this.key), Effect.HOLD).once();
		InterruptedCall<ReleaseOutcome> call = interrupt(held, () -> this.process.releaseBlocking(grant, PATIENCE));
		assertThat(call.call().isDone()).isFalse();
		held.close();
		assertThat(outcomeOf(call.call(), PATIENCE)).isEqualTo(ReleaseOutcome.RELEASED);
		assertNothingRemains();
	}

	/** Makes a call whose request is held, and interrupts its thread. */
	private <T> InterruptedCall<T> interrupt(WireFault held, Callable<StoreCall<T>> call) throws Exception {
		FutureTask<InterruptedCall<T>> task = new FutureTask<>(() -> {
			StoreCall<T> begun = call.call();
			long endedAt = System.nanoTime();
			return new InterruptedCall<>(begun, endedAt, Thread.currentThread().isInterrupted());
		});
		Thread thread = new Thread(task);
		thread.start();
		await().until(() -> held.hits() == 1);
		long interruptedAt = System.nanoTime();
		thread.interrupt();
		InterruptedCall<T> ended = task.get();
		assertThat(Duration.ofNanos(ended.endedAt() - interruptedAt)).isLessThan(SOON);
		assertThat(ended.flag()).as("interrupt flag").isTrue();
		return ended;
	}

	/** The thread that ends the call interrupts it for another reason just before. */
	@Test
	void interruptAtTheTimeOutIsKept() throws Exception {
		Duration timeout = Duration.ofMillis(100);
		WireFault held = this.proxy.onRequest(this.faults.packet(Command.ACQUIRE, this.key), Effect.HOLD).once();
		FutureTask<Boolean> task = new FutureTask<>(
				() -> attempt(timeout).isDone() && Thread.currentThread().isInterrupted());
		Thread thread = new Thread(task);
		this.fixture.timerOf(this.process).schedule(() -> {
			await().until(() -> held.hits() == 1);
			LockSupport.parkNanos(timeout.toNanos());
			thread.interrupt();
		}, Duration.ZERO);
		thread.start();
		assertThat(task.get()).as("interrupt flag").isTrue();
		held.close();
		assertNothingRemains();
	}

	@Test
	void attemptAtASilentServerEndsInTime() {
		try (WireFault silence = this.proxy.blackHole()) {
			long begun = System.nanoTime();
			StoreCall<AttemptResult> call = attempt(Duration.ofMillis(300));
			assertThat(Duration.ofNanos(System.nanoTime() - begun)).isBetween(Duration.ofMillis(290), SOON);
			assertThat(call.isDone()).isTrue();
			assertThatExceptionOfType(LockProviderException.class).isThrownBy(call::result)
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_TIMEOUT))
				.matches(LockProviderException::isEffectUnknown);
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
			assertThat(silence.hits()).isPositive();
		}
		assertNothingRemains();
	}

	@Test
	void releaseAtASilentServerEndsInTimeAndIsDecidedLater() {
		LockGrant grant = acquire();
		try (WireFault silence = this.proxy.blackHole()) {
			long begun = System.nanoTime();
			assertThat(outcomeOf(this.process.releaseBlocking(grant, Duration.ofMillis(300)), Duration.ofMillis(1)))
				.isEqualTo(ReleaseOutcome.UNKNOWN);
			assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(SOON);
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
			assertThat(silence.hits()).isPositive();
		}
		await().atMost(PATIENCE)
			.until(() -> outcomeOf(this.process.release(grant, TIMEOUT), TIMEOUT) == ReleaseOutcome.RELEASED);
		assertNothingRemains();
	}

	@Test
	void engineEndsInTimeAtASilentServerAndCleansUpLater() {
		LockSettings settings = LockSettings.defaults().withCallTimeout(Duration.ofMillis(300));
		LockRequest request = LockRequest.of(LockKey.of("free", "other"));
		try (LockTimer timer = new LockTimer();
				LockTemplate locks = new LockTemplate(this.process, settings, timer, List.of(), List.of())) {
			LockLease lease = locks.acquire(LockRequest.of(this.key));
			try (WireFault silence = this.proxy.blackHole()) {
				long begun = System.nanoTime();
				lease.close();
				assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> locks.tryAcquire(request))
					.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_TIMEOUT));
				// The attempt has its call time-out and the slack of a last answer.
				assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(SOON);
				assertThat(Thread.currentThread().isInterrupted()).isFalse();
				assertThat(silence.hits()).isPositive();
			}
			assertNothingRemains();
		}
	}

	@Test
	void otherAttemptWaitsUntilTheFirstOneIsDecided() throws Exception {
		WireFault held = this.proxy.onRequest(this.faults.packet(Command.ACQUIRE, this.key), Effect.HOLD).once();
		Future<StoreCall<AttemptResult>> first = this.threads.submit(() -> attempt(PATIENCE));
		await().until(() -> held.hits() == 1);
		StoreCall<AttemptResult> second = contender(this.process).attemptBlocking(OwnerId.random(), LEASE, false,
				PATIENCE);
		assertThat(second.isDone()).isFalse();
		assertThat(second.mayHaveBeenSent()).isFalse();
		held.close();
		assertThat(first.get().result()).isInstanceOf(AttemptResult.Granted.class);
		assertThat(resultOf(second, PATIENCE)).isInstanceOf(AttemptResult.Busy.class);
	}

	@Test
	void endOfTheSessionEndsTheCalls() throws Exception {
		LockGrant grant = acquire();
		WireFault held = this.proxy.onRequest(this.faults.packet(Command.RELEASE, this.key), Effect.HOLD).once();
		Future<StoreCall<ReleaseOutcome>> release = this.threads
			.submit(() -> this.process.releaseBlocking(grant, PATIENCE));
		await().until(() -> held.hits() == 1);
		ZooKeeperServerProcess.shared().endSession(this.process.sessions().present().id());
		held.close();
		assertThat(outcomeOf(release.get(), PATIENCE)).isIn(ReleaseOutcome.UNKNOWN, ReleaseOutcome.NOT_HELD);
		assertThat(rivalAttempt(false)).isInstanceOf(AttemptResult.Granted.class);
		await().atMost(PATIENCE).until(() -> this.process.undecided().size() == 0);
		this.process.check(PATIENCE);
	}

	@Test
	void interruptedThreadDoesNotBlock() {
		Thread.currentThread().interrupt();
		try (WireFault held = this.proxy.onRequest(this.faults.packet(Command.ACQUIRE, this.key), Effect.HOLD).once()) {
			StoreCall<AttemptResult> call = attempt(PATIENCE);
			assertThat(call.isDone()).isFalse();
			assertThat(Thread.interrupted()).isTrue();
			await().until(() -> held.hits() == 1);
		}
	}

	@Test
	@EnabledForJreRange(minVersion = 21)
	void virtualThreadDoesNotBlock() throws Exception {
		FutureTask<StoreCall<AttemptResult>> task = new FutureTask<>(() -> attempt(PATIENCE));
		try (WireFault held = this.proxy.onRequest(this.faults.packet(Command.ACQUIRE, this.key), Effect.HOLD).once()) {
			Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
			assertThat(task.get().isDone()).isFalse();
			await().until(() -> held.hits() == 1);
		}
		assertThat(resultOf(task.get(), PATIENCE)).isInstanceOf(AttemptResult.Granted.class);
	}

	/** A call as its interrupted thread got it. */
	private record InterruptedCall<T>(StoreCall<T> call, long endedAt, boolean flag) {

	}

}
