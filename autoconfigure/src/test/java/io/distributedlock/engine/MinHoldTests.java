package io.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

import io.distributedlock.LockCallback;
import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockOperations;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.grant.EngineLease;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.engine.grant.LockTerms;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.reactive.ReactiveLockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** How the engine keeps a shortest hold, and when it does not. */
class MinHoldTests {

	private static final LockKey KEY = LockKey.of("job");

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration MIN_HOLD = Duration.ofMinutes(10);

	private static final LockRequest REQUEST = LockRequest.of(KEY).withLease(LEASE).withMinHold(MIN_HOLD);

	private final ScriptedLockProvider provider = new ScriptedLockProvider();

	private final LockTimer timer = new LockTimer();

	private final LockTemplate locks = new LockTemplate(this.provider,
			LockSettings.defaults().withMaxHold(Duration.ofHours(1)), this.timer, List.of(), List.of());

	@AfterEach
	void stop() {
		this.locks.close();
		this.timer.close();
	}

	private static void assertRefused(LockError error, Runnable request) {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(request::run)
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(error));
	}

	@Test
	void storeIsAskedForTheLongerOfLeaseAndShortestHold() {
		this.locks.acquire(REQUEST);
		this.locks.acquire(LockRequest.of(LockKey.of("brief")).withLease(LEASE).withMinHold(Duration.ofSeconds(1)));
		assertThat(this.provider.attemptLeases).containsExactly(MIN_HOLD, LEASE);
	}

	@Test
	void lockIsHeldForOneLeaseOnly() {
		LockLease lease = this.locks.acquire(REQUEST);
		assertThat(lease.remaining()).isLessThanOrEqualTo(LEASE);
	}

	@Test
	void deadlineOfALeaseThatIsNotRenewedTellsTheLoss() {
		Duration brief = Duration.ofMillis(100);
		LockLease lease = this.locks.acquire(REQUEST.withLease(brief));
		LockLease unrenewed = this.locks
			.acquire(REQUEST.withKeys(List.of(LockKey.of("other"))).withLease(brief).withoutRenewal());
		this.provider.onRenew = (leases, timeout) -> {
			throw new LockProviderException(LockError.STORE_FAILED, "scripted", "is down", null);
		};
		await().until(() -> !lease.isHeld() && !unrenewed.isHeld());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::ensureHeld);
	}

	@Test
	void releaseKeepsTheRest() {
		this.locks.acquire(REQUEST).close();
		assertThat(this.provider.keptFor).singleElement()
			.satisfies((rest) -> assertThat(rest).isBetween(MIN_HOLD.minusMinutes(1), MIN_HOLD));
	}

	@Test
	void restIsComputedAnewWhenTheReleaseIsRepeated() {
		this.provider.onRelease = (owner) -> (this.provider.releases.size() < 3) ? ReleaseOutcome.UNKNOWN : null;
		this.locks.acquire(REQUEST).close();
		await().atMost(Duration.ofMinutes(1)).until(() -> this.provider.keptFor.size() >= 3);
		assertThat(this.provider.keptFor.get(2)).isPositive().isLessThan(this.provider.keptFor.get(0));
	}

	@Test
	void unclearAttemptKeepsNothing() {
		this.provider.onAttempt = (answer) -> {
			this.provider.onAttempt = null;
			throw new LockProviderException(LockError.STORE_FAILED, "scripted", "lost the connection", null);
		};
		LockLease lease = this.locks.acquire(REQUEST.withWaitTime(Duration.ofMinutes(1)));
		assertThat(lease.isHeld()).isTrue();
		assertThat(this.provider.keptFor).isNotEmpty().containsOnly(Duration.ZERO);
	}

	@Test
	void requestThatWasCancelledKeepsNothing() {
		CompletableFuture<?>[] future = new CompletableFuture<?>[1];
		AttemptResult[] granted = new AttemptResult[1];
		LockLease holder = this.locks.acquire(LockRequest.of(KEY));
		this.provider.onAttempt = (answer) -> {
			granted[0] = answer;
			future[0].cancel(false);
			return answer;
		};
		future[0] = this.locks.acquireAsync(REQUEST.withWaitTime(Duration.ofMinutes(1)));
		holder.close();
		await().until(() -> granted[0] instanceof AttemptResult.Granted && this.provider.keptFor.size() == 2);
		assertThat(this.provider.keptFor).containsOnly(Duration.ZERO);
	}

	@Test
	void multiKeyRequestThatFailsKeepsNothing() {
		LockKey busy = LockKey.of("zebra");
		LockLease holder = this.locks.acquire(LockRequest.of(busy));
		assertThat(this.locks.tryAcquire(REQUEST.withKeys(List.of(KEY, busy)).withWaitTime(Duration.ZERO))).isNull();
		await().until(() -> this.provider.keptFor.size() == 1);
		assertThat(this.provider.keptFor).containsExactly(Duration.ZERO);
		assertThat(holder.isHeld()).isTrue();
	}

	@Test
	void severalKeysAreKeptFromTheLastGrantOn() {
		Duration wait = Duration.ofMinutes(20);
		this.locks.acquire(REQUEST.withKeys(List.of(KEY, LockKey.of("second"))).withWaitTime(wait)).close();
		// A holder that dies has been granted or has renewed each key within one lease.
		assertThat(this.provider.attemptLeases).containsOnly(MIN_HOLD.plus(LEASE));
		assertThat(this.provider.keptFor).hasSize(2)
			.allSatisfy((rest) -> assertThat(rest).isBetween(MIN_HOLD.minusMinutes(1), MIN_HOLD));
	}

	/** So a process that dies while it waits blocks no key for its whole wait. */
	@Test
	void keysThatWaitForOthersAreKeptForTheShortestHoldFromTheLastRenewalOn() throws Exception {
		Duration brief = Duration.ofMillis(300);
		LockKey busy = LockKey.of("zebra");
		LockLease holder = this.locks.acquire(LockRequest.of(busy));
		LockRequest both = REQUEST.withKeys(List.of(KEY, busy)).withLease(brief);
		Lock view = this.locks.asLock(both);
		CompletableFuture<Void> user = CompletableFuture.runAsync(() -> {
			view.lock();
			view.unlock();
		});
		await().atMost(PATIENCE).until(() -> renewedLeases(KEY).size() >= 2);
		assertThat(renewedLeases(KEY)).containsOnly(MIN_HOLD.plus(brief));
		assertThat(this.provider.attemptLeases.subList(1, this.provider.attemptLeases.size()))
			.containsOnly(MIN_HOLD.plus(brief));
		holder.close();
		user.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
		assertThat(this.provider.keptFor).filteredOn((rest) -> !rest.isZero())
			.hasSize(2)
			.allSatisfy((rest) -> assertThat(rest).isBetween(MIN_HOLD.minusMinutes(1), MIN_HOLD));
	}

	private List<Duration> renewedLeases(LockKey key) {
		return this.provider.renewals.stream()
			.flatMap((batch) -> batch.entrySet().stream())
			.filter((renewed) -> renewed.getKey().key().equals(key))
			.map(Map.Entry::getValue)
			.toList();
	}

	/** The deadline of this process has passed, but the store keeps the key longer. */
	@Test
	void lockThatWasLostBeforeItsWorkBeganIsReleased() {
		Duration brief = Duration.ofMillis(50);
		LockLease unused = this.locks.acquire(REQUEST.withLease(brief).withoutRenewal());
		await().atMost(PATIENCE).until(() -> !unused.isHeld());
		((EngineLease) unused).closeUnusedAsync();
		await().atMost(PATIENCE).until(() -> this.provider.keptFor.size() == 1);
		assertThat(this.provider.keptFor).containsExactly(Duration.ZERO);
		this.locks.acquire(REQUEST).close();
	}

	/** Neither call reaches the body. */
	@Test
	void reactiveCallThatIsCancelledOrLostBeforeItsBodyKeepsNothing() {
		AtomicInteger bodies = new AtomicInteger();
		CompletableFuture<LockLease> late = new CompletableFuture<>() {

			@Override
			public boolean cancel(boolean mayInterrupt) {
				// As a cancellation that comes too late.
				return false;
			}

		};
		subscribe(late, bodies).dispose();
		late.complete(this.locks.acquire(REQUEST));
		await().atMost(PATIENCE).until(() -> this.provider.keptFor.size() == 1);
		LockLease lost = this.locks.acquire(REQUEST.withLease(Duration.ofMillis(500)).withoutRenewal());
		await().atMost(PATIENCE).until(() -> !lost.isHeld());
		subscribe(CompletableFuture.completedFuture(lost), bodies);
		await().atMost(PATIENCE).until(() -> this.provider.keptFor.size() == 2);
		assertThat(this.provider.keptFor).containsOnly(Duration.ZERO);
		assertThat(bodies).hasValue(0);
		subscribe(CompletableFuture.completedFuture(this.locks.acquire(REQUEST)), bodies);
		await().atMost(PATIENCE).until(() -> this.provider.keptFor.size() == 3);
		assertThat(this.provider.keptFor.get(2)).isPositive();
		assertThat(bodies).hasValue(1);
	}

	private static Disposable subscribe(CompletableFuture<LockLease> acquired, AtomicInteger bodies) {
		LockOperations operations = mock();
		given(operations.acquireAsync(any(), any())).willReturn(acquired);
		return new ReactiveLockTemplate(operations).execute(REQUEST, (lease) -> Mono.just(bodies.incrementAndGet()))
			.subscribe((value) -> {
			}, (failure) -> {
			});
	}

	@Test
	void reentryByAViewWithALongerShortestHoldIsRefused() {
		Lock view = this.locks.asLock(REQUEST);
		Lock longer = this.locks.asLock(REQUEST.withMinHold(MIN_HOLD.plusMillis(1)));
		view.lock();
		assertRefused(LockError.INVALID_MIN_HOLD, longer::lock);
		view.lock();
		view.unlock();
		view.unlock();
		assertThat(this.locks.snapshot().held()).isEmpty();
	}

	/** A nested call may begin when the shortest hold of the outer one is over. */
	@Test
	void lockIsKeptForTheShortestHoldOfANestedCallFromItsStartOn() {
		Duration brief = Duration.ofMillis(100);
		LockRequest outer = REQUEST.withMinHold(brief);
		LockRequest nested = outer.withKeys(List.of(KEY, LockKey.of("other")));
		for (LockRequest request : List.of(outer, nested)) {
			this.locks.execute(outer, (lease) -> {
				HeldGrant grant = ((EngineLease) lease).grants().get(0);
				await().atMost(PATIENCE).until(() -> grant.keepFor(System.nanoTime()).isZero());
				long before = System.nanoTime();
				this.locks.execute(request, (joined) -> "done");
				assertThat(grant.keepFor(before)).isGreaterThanOrEqualTo(brief);
				return "done";
			});
			await().atMost(PATIENCE).until(() -> this.locks.snapshot().held().isEmpty());
		}
	}

	@Test
	void storeIsToldSoonThatANestedCallKeepsTheLockLonger() {
		this.locks.execute(REQUEST, (lease) -> {
			this.locks.execute(REQUEST, (joined) -> "done");
			await().atMost(LEASE.dividedBy(4)).until(() -> !this.provider.renewals.isEmpty());
			assertThat(renewedLeases(KEY)).allSatisfy((told) -> assertThat(told).isGreaterThan(LEASE));
			return "done";
		});
	}

	@Test
	void waitWithoutALimitDoesNotKeepSeveralKeysForLonger() {
		Lock lock = this.locks.asLock(REQUEST.withKeys(List.of(KEY, LockKey.of("second"))));
		lock.lock();
		assertThat(this.provider.attemptLeases).containsExactly(LEASE.plus(MIN_HOLD), LEASE.plus(MIN_HOLD));
		lock.unlock();
	}

	@Test
	void renewalKeepsTheRestWhateverIsWaitedFor() {
		LockTerms terms = LockTerms.of(REQUEST, LockSettings.defaults());
		HeldGrant part = new HeldGrant(new LockGrant(KEY, OwnerId.random(), 1, LEASE.plus(MIN_HOLD)), terms,
				LEASE.plus(MIN_HOLD), 0, 0, new NoQueue());
		long late = Duration.ofHours(1).toNanos();
		assertThat(part.renewalLease(late)).isEqualTo(LEASE.plus(MIN_HOLD));
		part.beginHold(late, null);
		assertThat(part.renewalLease(late)).isEqualTo(MIN_HOLD);
		assertThat(part.renewalLease(late + MIN_HOLD.toNanos())).isEqualTo(LEASE);
	}

	@Test
	void restIsNotTooShortIfTheLocalClockIsTooFast() {
		LockTerms terms = LockTerms.of(REQUEST, LockSettings.defaults());
		HeldGrant grant = new HeldGrant(new LockGrant(KEY, OwnerId.random(), 1, MIN_HOLD), terms, MIN_HOLD, 0, 0,
				new NoQueue());
		grant.beginHold(0, null);
		Duration half = MIN_HOLD.dividedBy(2);
		Duration rest = half.plus(half.dividedBy(200));
		assertThat(grant.keepFor(0)).isEqualTo(MIN_HOLD);
		assertThat(grant.keepFor(half.toNanos())).isEqualTo(rest);
		assertThat(grant.renewalLease(half.toNanos())).isEqualTo(rest);
		assertThat(grant.keepFor(MIN_HOLD.multipliedBy(2).toNanos())).isZero();
	}

	@Test
	void lockOfAShortestHoldIsNotHandedOff() {
		this.provider.onRelease = (owner) -> ReleaseOutcome.RELEASED;
		LockLease first = this.locks.acquire(REQUEST);
		CompletableFuture<LockLease> next = this.locks.acquireAsync(REQUEST.withWaitTime(Duration.ofMinutes(1)));
		first.close();
		assertThat(this.provider.releases).hasSize(1);
		next.cancel(false);
		LockLease plain = this.locks.acquire(REQUEST.withMinHold(null).withKeys(List.of(LockKey.of("plain"))));
		CompletableFuture<LockLease> kept = this.locks
			.acquireAsync(REQUEST.withKeys(List.of(LockKey.of("plain"))).withWaitTime(Duration.ofMinutes(1)));
		plain.close();
		assertThat(this.provider.releases).hasSize(2);
		kept.cancel(false);
	}

	@Test
	void nestedRequestJoinsAnOuterHoldThatIsKeptAsLong() {
		LockCallback<Object, RuntimeException> body = (lease) -> "done";
		for (Duration shorter : new Duration[] { null, Duration.ofSeconds(1), MIN_HOLD }) {
			LockKey key = LockKey.of("nested", String.valueOf(shorter));
			LockRequest outer = REQUEST.withKeys(List.of(key));
			assertThatNoException().isThrownBy(
					() -> this.locks.execute(outer, (lease) -> this.locks.execute(outer.withMinHold(shorter), body)));
		}
	}

	@Test
	void nestedRequestOfALongerShortestHoldIsRefused() {
		LockCallback<Object, RuntimeException> body = (lease) -> "done";
		LockRequest longer = REQUEST.withMinHold(MIN_HOLD.plusMillis(1));
		LockRequest both = longer.withKeys(List.of(KEY, LockKey.of("other")));
		this.locks.execute(LockRequest.of(LockKey.of("plain")), (plain) -> {
			assertRefused(LockError.INVALID_MIN_HOLD,
					() -> this.locks.execute(REQUEST.withKeys(List.of(LockKey.of("plain"))), body));
			return this.locks.execute(REQUEST, (lease) -> {
				assertRefused(LockError.INVALID_MIN_HOLD, () -> this.locks.execute(longer, body));
				assertRefused(LockError.INVALID_MIN_HOLD, () -> this.locks.execute(both, body));
				return "done";
			});
		});
		assertThat(this.provider.attempts).hasSize(2);
	}

	@Test
	void shortestHoldBeyondTheDefaultOfTheLongestHoldIsRefused() {
		LockRequest tooLong = REQUEST.withMinHold(Duration.ofHours(2));
		assertRefused(LockError.INVALID_MIN_HOLD, () -> this.locks.acquire(tooLong));
		assertRefused(LockError.INVALID_MIN_HOLD, () -> this.locks.execute(tooLong, (lease) -> "done"));
		assertThat(this.locks.acquireAsync(tooLong)).isCompletedExceptionally();
		assertThat(this.provider.attempts).isEmpty();
	}

	@Test
	void lockThatIsTakenAwayIsKept() {
		this.locks.acquire(REQUEST);
		assertThat(this.locks.forceRelease(KEY)).isTrue();
		await().until(() -> this.provider.keptFor.size() == 1);
		assertThat(this.provider.keptFor.get(0)).isPositive();
	}

}
