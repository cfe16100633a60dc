package io.distributedlock.support;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockCallback;
import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.awaitility.Awaitility.await;

/** How the engine keeps a shortest hold, and when it does not. */
class MinHoldTests {

	private static final LockKey KEY = LockKey.of("job");

	private static final Duration LEASE = Duration.ofSeconds(10);

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
			.acquire(REQUEST.withKeys(List.of(LockKey.of("other"))).withLease(brief).withRenew(false));
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
		this.locks.acquire(REQUEST.withKeys(List.of(KEY, LockKey.of("second")))).close();
		// A holder that dies as its hold begins has been granted the first key a lease
		// ago.
		assertThat(this.provider.attemptLeases).containsExactly(LEASE.plus(MIN_HOLD), LEASE.plus(MIN_HOLD));
		assertThat(this.provider.keptFor).hasSize(2)
			.allSatisfy((rest) -> assertThat(rest).isBetween(MIN_HOLD.minusMinutes(1), MIN_HOLD));
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
		HeldGrant part = new HeldGrant(new LockGrant(KEY, OwnerId.random(), 1, LEASE.plus(MIN_HOLD)), terms, 0, 0);
		long late = Duration.ofHours(1).toNanos();
		assertThat(part.renewalLease(late)).isEqualTo(LEASE.plus(MIN_HOLD));
		part.beginHold(late, null);
		assertThat(part.renewalLease(late)).isEqualTo(MIN_HOLD);
		assertThat(part.renewalLease(late + MIN_HOLD.toNanos())).isEqualTo(LEASE);
	}

	@Test
	void restIsNotTooShortIfTheLocalClockIsTooFast() {
		LockTerms terms = LockTerms.of(REQUEST, LockSettings.defaults());
		HeldGrant grant = new HeldGrant(new LockGrant(KEY, OwnerId.random(), 1, MIN_HOLD), terms, 0, 0);
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
