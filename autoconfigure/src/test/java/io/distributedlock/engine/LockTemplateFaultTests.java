package io.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.distributedlock.LockError;
import io.distributedlock.LockHolder;
import io.distributedlock.LockInterruptedException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockListener;
import io.distributedlock.LockLostException;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.engine.grant.EarlyRenewals;
import io.distributedlock.engine.grant.EngineLease;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ProcessLabel;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.testkit.TimeBounds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What the engine makes of a store that answers late, wrongly, or not at all.
 */
@Tag("full")
class LockTemplateFaultTests {

	private static final LockKey KEY = LockKey.of("seats", "13A");

	/** The scripts of these tests delay and fail calls as a blocking client does. */
	private final ScriptedLockProvider provider = new ScriptedLockProvider(true);

	private final LockTimer timer = new LockTimer();

	private final CountDownLatch listenerMayReturn = new CountDownLatch(1);

	private final LockTemplate locks = new LockTemplate(this.provider,
			LockSettings.defaults().withWaitTime(Duration.ofSeconds(10)).withCallTimeout(Duration.ofMillis(500)),
			this.timer, List.of(), List.of());

	private final LockRequest request = LockRequest.of(KEY);

	@AfterEach
	void stop() {
		this.listenerMayReturn.countDown();
		this.locks.close();
		this.timer.close();
	}

	@Test
	void grantThatArrivesAfterItsLeaseIsReleased() {
		this.provider.onAttempt = (answer) -> {
			pause(Duration.ofMillis(120));
			return answer;
		};
		LockRequest brief = this.request.withLease(Duration.ofMillis(100)).withWaitTime(Duration.ZERO);
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> this.locks.acquire(brief))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_TIMEOUT));
		await().until(() -> this.provider.releases.contains(this.provider.attempts.get(0)));
	}

	@Test
	void deadlineCountsFromBeforeTheCommandWasSent() {
		this.provider.onAttempt = (answer) -> {
			pause(Duration.ofMillis(200));
			return answer;
		};
		LockLease lease = this.locks.acquire(this.request.withLease(Duration.ofSeconds(5)).withoutRenewal());
		assertThat(lease.remaining()).isLessThan(Duration.ofMillis(4800)).isGreaterThan(Duration.ZERO);
		lease.close();
	}

	@Test
	void attemptWithoutReplyIsReleasedAndItsOwnerNotReused() {
		AtomicBoolean lost = new AtomicBoolean();
		this.provider.onAttempt = (answer) -> {
			if (lost.compareAndSet(false, true)) {
				throw new LockProviderException(LockError.STORE_TIMEOUT, "scripted", "did not answer", null);
			}
			return answer;
		};
		assertThatExceptionOfType(LockProviderException.class)
			.isThrownBy(() -> this.locks.acquire(this.request.withWaitTime(Duration.ZERO)));
		OwnerId unclear = this.provider.attempts.get(0);
		await().until(() -> this.provider.releases.contains(unclear));
		try (LockLease lease = this.locks.acquire(this.request)) {
			assertThat(lease.isHeld()).isTrue();
			assertThat(this.provider.attempts.get(1)).isNotEqualTo(unclear);
		}
	}

	@Test
	void failureThatPassesIsAskedAgainWithinTheWaitTime() {
		AtomicInteger failures = new AtomicInteger();
		this.provider.onAttempt = (answer) -> {
			if (failures.incrementAndGet() <= 2) {
				throw new LockProviderException(LockError.STORE_FAILED, "scripted", "reset the connection", null);
			}
			return answer;
		};
		try (LockLease lease = this.locks.acquire(this.request.withWaitTime(Duration.ofSeconds(20)))) {
			assertThat(lease.isHeld()).isTrue();
			assertThat(this.provider.attempts).hasSizeGreaterThanOrEqualTo(3);
			assertThat(this.provider.attempts.subList(0, 3)).doesNotHaveDuplicates();
			await().untilAsserted(
					() -> assertThat(this.provider.releases).containsAll(this.provider.attempts.subList(0, 2)));
		}
	}

	@Test
	void failureThatDoesNotPassIsToldAsThatFailure() {
		this.provider.onAttempt = (answer) -> {
			throw LockProviderException.nothingSent(LockError.STORE_FAILED, "scripted", "is down", null);
		};
		Duration wait = Duration.ofSeconds(1);
		long start = System.nanoTime();
		assertThatExceptionOfType(LockProviderException.class)
			.isThrownBy(() -> this.locks.acquire(this.request.withWaitTime(wait)))
			.withMessageContaining("is down");
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(wait);
		assertThat(this.provider.attempts).hasSizeGreaterThan(2);
	}

	@Test
	void failureThatCannotPassIsToldAtOnce() {
		this.provider.onAttempt = (answer) -> {
			throw new LockProviderException(LockError.NOT_PERMITTED, "scripted", "denies a right", null);
		};
		assertThatExceptionOfType(LockProviderException.class)
			.isThrownBy(() -> this.locks.acquire(this.request.withWaitTime(Duration.ofMinutes(1))));
		assertThat(this.provider.attempts).hasSize(1);
	}

	@Test
	void releaseThatFindsNothingDoesNotEndAnUnclearAttempt() {
		this.provider.onAttempt = (answer) -> {
			throw new IllegalStateException("cut");
		};
		this.provider.onRelease = (owner) -> ReleaseOutcome.NOT_HELD;
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> this.locks.acquire(this.request));
		await().until(() -> this.provider.releases.size() >= 4);
		this.provider.onRelease = (owner) -> ReleaseOutcome.RELEASED;
		int asked = this.provider.releases.size();
		await().until(() -> this.provider.releases.size() > asked);
		int confirmed = this.provider.releases.size();
		await().during(Duration.ofSeconds(2)).until(() -> this.provider.releases.size() == confirmed);
	}

	@Test
	void attemptThatWasNeverSentIsNotReleased() {
		this.provider.onAttempt = (answer) -> {
			throw LockProviderException.nothingSent(LockError.STORE_FAILED, "scripted", "is down", null);
		};
		assertThatExceptionOfType(LockProviderException.class)
			.isThrownBy(() -> this.locks.acquire(this.request.withWaitTime(Duration.ofMillis(300))));
		await().during(Duration.ofMillis(300)).until(this.provider.releases::isEmpty);
	}

	@Test
	void waiterBehindAHeadWithoutReplyIsNotReportedBusy() throws Exception {
		CountDownLatch asked = new CountDownLatch(1);
		this.provider.onAttempt = (answer) -> {
			asked.countDown();
			pause(Duration.ofMillis(400));
			throw new LockProviderException(LockError.STORE_TIMEOUT, "scripted", "did not answer", null);
		};
		LockRequest brief = this.request.withWaitTime(Duration.ofMillis(300));
		CompletableFuture<Void> head = CompletableFuture.runAsync(() -> this.locks.acquire(brief));
		asked.await();
		assertThatExceptionOfType(LockProviderException.class)
			.isThrownBy(() -> this.locks.tryAcquire(this.request.withWaitTime(Duration.ZERO)));
		assertThat(head).failsWithin(Duration.ofSeconds(10));
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void ownerOfABusyAttemptIsUsedAgainUnlessAReleaseOfItIsPending(boolean releasePending) {
		AtomicInteger attempts = new AtomicInteger();
		this.provider.onAttempt = (answer) -> {
			if (attempts.incrementAndGet() > 1) {
				return answer;
			}
			this.provider.store.expire(KEY);
			return new AttemptResult.Busy(Duration.ZERO, null, true, releasePending);
		};
		this.locks.acquire(this.request).close();
		assertThat(this.provider.attempts).hasSize(2);
		assertThat(this.provider.attempts.get(0).equals(this.provider.attempts.get(1))).isEqualTo(!releasePending);
	}

	@Test
	void callWithoutWaitTimeBehindAWaiterLearnsAtOnceWhetherTheKeyIsBusy() {
		this.provider.onAttempt = (answer) -> new AttemptResult.Busy(Duration.ofSeconds(20), null);
		CompletableFuture<LockLease> head = this.locks.acquireAsync(this.request.withWaitTime(Duration.ofSeconds(30)));
		await().until(() -> !this.provider.attempts.isEmpty());
		long start = System.nanoTime();
		assertThat(this.locks.tryAcquire(this.request.withWaitTime(Duration.ZERO))).isNull();
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TimeBounds.withLoad(400));
		assertThat(this.provider.attempts).hasSize(2);
		assertThat(head).isNotDone();
		head.cancel(true);
	}

	@Test
	void releaseWithoutReplyIsRepeatedAndTheResultReturned() {
		AtomicInteger failures = new AtomicInteger();
		this.provider.onRelease = (owner) -> {
			if (failures.incrementAndGet() <= 2) {
				throw new IllegalStateException("cut");
			}
			return null;
		};
		assertThat(this.locks.<String, RuntimeException>execute(this.request, (lease) -> "done")).isEqualTo("done");
		await().until(() -> this.provider.releases.size() == 3);
		try (LockLease again = this.locks.acquire(this.request)) {
			assertThat(again.isHeld()).isTrue();
		}
	}

	@Test
	void pendingReleaseSignalsTheWaiterOfThisProcess() throws Exception {
		this.provider.silent = true;
		this.provider.onAttempt = (answer) -> (answer instanceof AttemptResult.Busy)
				? new AttemptResult.Busy(Duration.ofSeconds(20), null) : answer;
		CountDownLatch waits = new CountDownLatch(1);
		this.provider.onRelease = (owner) -> (waits.getCount() > 0) ? ReleaseOutcome.UNKNOWN : null;
		this.locks.acquire(this.request).close();
		CompletableFuture<LockLease> waiter = CompletableFuture
			.supplyAsync(() -> this.locks.acquire(this.request.withWaitTime(Duration.ofSeconds(30))));
		await().until(() -> this.provider.attempts.size() == 2);
		waits.countDown();
		waiter.get(10, TimeUnit.SECONDS).close();
	}

	@Test
	void firstReleaseThatFindsNothingIsALoss() {
		AtomicBoolean reported = new AtomicBoolean();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.locks.execute(this.request, (lease) -> {
				lease.onLost(() -> reported.set(true));
				this.provider.store.expire(KEY);
				return null;
			}))
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LossReason.NOT_HELD));
		await().untilTrue(reported);
	}

	@Test
	void lossIsReportedAtTheDeadlineWhileRenewalsHang() {
		CountDownLatch end = new CountDownLatch(1);
		this.provider.onRenew = (leases, timeout) -> {
			awaitLatch(end);
			return null;
		};
		AtomicBoolean reported = new AtomicBoolean();
		long start = System.nanoTime();
		LockLease lease = this.locks.acquire(this.request.withLease(Duration.ofMillis(600)));
		lease.onLost(() -> reported.set(true));
		await().pollInterval(Duration.ofMillis(5)).untilTrue(reported);
		// A machine that stands still is late, but the renewal hangs for longer.
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofMillis(400),
				Duration.ofSeconds(5));
		assertThat(lease.isHeld()).isFalse();
		end.countDown();
		lease.close();
		assertThat(lease.isHeld()).isFalse();
	}

	@Test
	void renewalThatFailsIsRepeatedWithinTheLease() {
		AtomicInteger failures = new AtomicInteger();
		this.provider.onRenew = (leases, timeout) -> switch (failures.incrementAndGet()) {
			case 1 -> throw new IllegalStateException("cut");
			case 2 -> Map.of();
			case 3 -> throw new LockProviderException(LockError.STORE_TIMEOUT, "scripted", "did not answer", null);
			default -> null;
		};
		LockLease lease = this.locks.acquire(this.request.withLease(Duration.ofSeconds(4)));
		await().during(Duration.ofSeconds(5)).until(lease::isHeld);
		await().untilAsserted(() -> assertThat(failures).hasValueGreaterThan(4));
		lease.ensureHeld();
		lease.close();
	}

	@Test
	void entryThatFailsItsBatchOfRenewalsIsLostAlone() {
		LockKey failing = LockKey.of("seats", "failing");
		this.provider.onRenew = (leases, timeout) -> {
			if (leases.keySet().stream().anyMatch((grant) -> grant.key().equals(failing))) {
				throw new IllegalStateException("cut");
			}
			return null;
		};
		Duration leaseTime = TimeBounds.withLoad(Duration.ofSeconds(2));
		List<LockLease> others = IntStream.range(0, 100)
			.mapToObj(
					(seat) -> this.locks.acquire(LockRequest.of(LockKey.of("seats", "s" + seat)).withLease(leaseTime)))
			.toList();
		LockLease lost = this.locks.acquire(LockRequest.of(failing).withLease(leaseTime));
		await().during(leaseTime.plusMillis(500)).until(() -> others.stream().allMatch(LockLease::isHeld));
		assertThat(lost.isHeld()).isFalse();
		others.forEach(LockLease::close);
	}

	@Test
	void renewalThatFindsNoGrantIsALossAtOnce() {
		LockLease lease = this.locks.acquire(this.request.withLease(Duration.ofSeconds(9)));
		this.provider.store.expire(KEY);
		await().atMost(Duration.ofSeconds(7)).until(() -> !lease.isHeld());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::ensureHeld)
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LossReason.NOT_HELD));
	}

	@Test
	void noRenewalBeginsOrRevivesAGrantAfterItsRelease() {
		AtomicInteger revived = new AtomicInteger();
		AtomicLong released = new AtomicLong();
		this.provider.onRenew = (leases, timeout) -> {
			long before = released.get();
			Map<LockGrant, RenewalOutcome> outcomes = this.provider.store.renew(leases, timeout).result();
			outcomes.forEach((grant, outcome) -> {
				if (outcome == RenewalOutcome.RENEWED && grant.order() <= before) {
					revived.incrementAndGet();
				}
			});
			return outcomes;
		};
		LockTemplate eager = new LockTemplate(this.provider, EarlyRenewals.after(0.0002,
				LockSettings.defaults().withLease(Duration.ofSeconds(5)).withCallTimeout(Duration.ofSeconds(5))),
				this.timer, List.of(), List.of());
		try {
			long end = System.nanoTime() + Duration.ofMinutes(1).toNanos();
			for (int cycle = 0; cycle < 10_000
					|| (this.provider.renewals.size() <= 100 && System.nanoTime() - end < 0); cycle++) {
				EngineLease lease = (EngineLease) eager.acquire(this.request);
				HeldGrant grant = lease.grants().get(0);
				if (cycle % 50 == 0) {
					pause(Duration.ofMillis(2));
				}
				lease.close();
				assertThat(grant.beginRenewal()).isFalse();
				released.set(grant.grant().order());
			}
			assertThat(this.provider.renewals).hasSizeGreaterThan(100);
			assertThat(revived).hasValue(0);
		}
		finally {
			eager.close();
		}
	}

	@Test
	void repeatedAcquisitionDoesNotMultiplyRenewals() {
		LockRequest brief = this.request.withLease(Duration.ofSeconds(3));
		for (int cycle = 0; cycle < 100; cycle++) {
			this.locks.acquire(brief).close();
		}
		LockLease lease = this.locks.acquire(brief);
		int before = this.provider.renewals.size();
		long start = System.nanoTime();
		await().pollDelay(Duration.ofMillis(3500))
			.until(() -> lease.isHeld() && this.provider.renewals.size() > before);
		int renewals = this.provider.renewals.size() - before;
		int periods = (int) ((System.nanoTime() - start) / Duration.ofSeconds(1).toNanos());
		assertThat(renewals).isLessThanOrEqualTo(periods + 2);
		lease.close();
	}

	@Test
	void interruptedWaiterKeepsItsFlagAndLeavesNoEntry() throws Exception {
		LockLease held = this.locks.acquire(this.request);
		AtomicBoolean flag = new AtomicBoolean();
		CompletableFuture<Throwable> thrown = new CompletableFuture<>();
		Thread waiter = new Thread(() -> {
			try {
				this.locks.acquire(this.request.withWaitTime(Duration.ofSeconds(20)));
			}
			catch (RuntimeException ex) {
				flag.set(Thread.currentThread().isInterrupted());
				thrown.complete(ex);
			}
		});
		waiter.start();
		await().until(() -> waiter.getState() == Thread.State.TIMED_WAITING);
		waiter.interrupt();
		assertThat(thrown.get(10, TimeUnit.SECONDS)).isInstanceOf(LockInterruptedException.class);
		assertThat(flag).isTrue();
		held.close();
		this.locks.acquire(this.request).close();
	}

	@Test
	void releaseOfAnInterruptedThreadIsSentAndKeepsTheFlag() {
		LockLease lease = this.locks.acquire(this.request);
		AtomicBoolean seen = new AtomicBoolean();
		this.provider.onRelease = (owner) -> {
			seen.set(Thread.currentThread().isInterrupted());
			return null;
		};
		Thread.currentThread().interrupt();
		lease.close();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(seen).isFalse();
		this.locks.acquire(this.request).close();
	}

	@Test
	void listenersThatBlockOrThrowNeitherDelayNorBreakALock() {
		LockListener blocking = new LockListener() {

			@Override
			public void onAcquired(LockLease lease) {
				awaitLatch(LockTemplateFaultTests.this.listenerMayReturn);
			}

			@Override
			public void onReleased(LockLease lease) {
				throw new IllegalStateException("listener");
			}

		};
		LockTemplate observed = new LockTemplate(this.provider, LockSettings.defaults(), this.timer, List.of(),
				List.of(blocking));
		long start = System.nanoTime();
		for (int cycle = 0; cycle < 100; cycle++) {
			observed.acquire(this.request).close();
		}
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
		observed.close();
	}

	@Test
	void cancelledAcquisitionReleasesItsGrant() {
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch mayAnswer = new CountDownLatch(1);
		this.provider.onAttempt = (answer) -> {
			asked.countDown();
			awaitLatch(mayAnswer);
			return answer;
		};
		CompletableFuture<LockLease> future = this.locks.acquireAsync(this.request);
		awaitLatch(asked);
		future.cancel(true);
		mayAnswer.countDown();
		await().until(() -> this.provider.releases.equals(this.provider.attempts));
		this.provider.onAttempt = null;
		this.locks.acquire(this.request).close();
	}

	@Test
	void busyLockNamesThisProcessAsOthersDo() {
		try (LockLease lease = this.locks.acquire(this.request)) {
			assertThat(lease.isHeld()).isTrue();
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> this.locks.acquire(this.request.withWaitTime(Duration.ZERO)))
				.satisfies((ex) -> assertThat(ex.holder()).isNotNull()
					.extracting(LockHolder::label)
					.isEqualTo(ProcessLabel.get()));
		}
	}

	@Test
	void lockStaysHeldWhileItsRenewalIsSlowerThanItsPeriod() {
		this.provider.onRenew = (leases, timeout) -> {
			pause(Duration.ofMillis(1800));
			return null;
		};
		LockLease lease = this.locks.acquire(this.request.withLease(Duration.ofSeconds(5)));
		await().atMost(Duration.ofSeconds(20)).during(Duration.ofSeconds(8)).until(lease::isHeld);
		lease.close();
	}

	private static void awaitLatch(CountDownLatch latch) {
		try {
			assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Delays an answer; the delay itself is what the test is about. */
	private static void pause(Duration duration) {
		CountDownLatch never = new CountDownLatch(1);
		try {
			assertThat(never.await(duration.toNanos(), TimeUnit.NANOSECONDS)).isFalse();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
