package io.distributedlock;

import java.time.Duration;
import java.util.List;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class LockRequestTests {

	private static final LockKey A = LockKey.of("a");

	private static final LockKey B = LockKey.of("b");

	private final LockRequest request = LockRequest.of(A);

	private static void assertRefused(LockError error, ThrowingCallable call) {
		assertThatExceptionOfType(LockException.class).isThrownBy(call)
			.isInstanceOf(
					(error == LockError.NO_KEYS) ? InvalidLockKeyException.class : LockConfigurationException.class)
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(error));
	}

	@Test
	void requestForOneKeyLeavesTheRestToTheDefaults() {
		assertThat(this.request).isEqualTo(LockRequest.ofAll(List.of(A)))
			.hasToString(
					"LockRequest[keys=[" + A + "], lease=null, waitTime=null, renew=true, maxHold=null, minHold=null]");
		assertThat(this.request.keys()).containsExactly(A);
	}

	@Test
	void keysAreSortedAndCountOnce() {
		assertThat(LockRequest.ofAll(List.of(B, A, B)).keys()).containsExactly(A, B);
		assertThat(this.request.withKeys(List.of(B, A)).keys()).containsExactly(A, B);
	}

	@Test
	void requestWithoutAKeyIsRefused() {
		assertRefused(LockError.NO_KEYS, () -> LockRequest.ofAll(List.of()));
		assertRefused(LockError.NO_KEYS, () -> this.request.withKeys(List.of()));
	}

	@Test
	void copiesChangeOneThingEach() {
		Duration second = Duration.ofSeconds(1);
		LockRequest changed = this.request.withLease(second)
			.withWaitTime(second.multipliedBy(2))
			.withMaxHold(second.multipliedBy(3));
		assertThat(changed.lease()).isEqualTo(second);
		assertThat(changed.waitTime()).isEqualTo(second.multipliedBy(2));
		assertThat(changed.maxHold()).isEqualTo(second.multipliedBy(3));
		assertThat(changed.renew()).isTrue();
		assertThat(changed.withoutRenewal().renew()).isFalse();
		assertThat(changed.withoutRenewal()).isNotEqualTo(changed);
		assertThat(changed.withKeys(List.of(B)).lease()).isEqualTo(second);
		assertThat(changed.withLease(null).withWaitTime(null).withMaxHold(null)).isEqualTo(this.request);
	}

	@Test
	void durationsOutOfRangeAreRefused() {
		for (Duration lease : new Duration[] { Duration.ZERO, Duration.ofMillis(-1), Duration.ofMillis(9),
				Duration.ofDays(366), Duration.ofSeconds(Long.MAX_VALUE) }) {
			assertRefused(LockError.INVALID_LEASE, () -> this.request.withLease(lease));
		}
		for (Duration wait : new Duration[] { Duration.ofNanos(-1), Duration.ofDays(366),
				Duration.ofSeconds(Long.MAX_VALUE) }) {
			assertRefused(LockError.INVALID_WAIT_TIME, () -> this.request.withWaitTime(wait));
		}
		for (Duration hold : new Duration[] { Duration.ZERO, Duration.ofNanos(-1),
				Duration.ofSeconds(Long.MAX_VALUE) }) {
			assertRefused(LockError.INVALID_MAX_HOLD, () -> this.request.withMaxHold(hold));
		}
	}

	@Test
	void shortestHoldIsAtMostTheLongestHold() {
		Duration minute = Duration.ofMinutes(1);
		assertThat(this.request.withMinHold(minute).withMaxHold(minute).minHold()).isEqualTo(minute);
		assertThat(this.request.withMinHold(minute).withKeys(List.of(B)).withLease(minute).minHold()).isEqualTo(minute);
		assertThat(this.request.withMinHold(Duration.ZERO)).isEqualTo(this.request);
		assertRefused(LockError.INVALID_MIN_HOLD,
				() -> this.request.withMaxHold(minute).withMinHold(minute.plusNanos(1)));
		assertRefused(LockError.INVALID_MIN_HOLD,
				() -> this.request.withMinHold(minute.plusNanos(1)).withMaxHold(minute));
		for (Duration hold : new Duration[] { Duration.ofNanos(-1), Duration.ofDays(366) }) {
			assertRefused(LockError.INVALID_MIN_HOLD, () -> this.request.withMinHold(hold));
		}
	}

	@Test
	void durationsAtTheEdgeAreAllowed() {
		assertThat(this.request.withLease(Duration.ofMillis(10)).withLease(Duration.ofDays(365)).lease())
			.isEqualTo(Duration.ofDays(365));
		assertThat(this.request.withWaitTime(Duration.ZERO).waitTime()).isZero();
	}

	@Test
	void requestIsExclusiveUnlessItAsksForAShare() {
		assertThat(this.request.mode()).isEqualTo(LockMode.EXCLUSIVE);
		assertThat(this.request.permits()).isZero();
		LockRequest shared = this.request.shared();
		assertThat(shared.mode()).isEqualTo(LockMode.SHARED);
		assertThat(shared.permits()).isEqualTo(Integer.MAX_VALUE);
		LockRequest permit = shared.withPermits(3).withLease(Duration.ofSeconds(1)).withKeys(List.of(B));
		assertThat(permit.mode()).isEqualTo(LockMode.PERMIT);
		assertThat(permit.permits()).isEqualTo(3);
		assertThat(permit.toString()).contains("permits=3");
		assertThat(shared).isNotEqualTo(this.request);
		assertThat(shared.exclusive()).isEqualTo(this.request);
	}

	@Test
	void shareWithoutPermitsOrWithAShortestHoldIsRefused() {
		for (int permits : new int[] { 0, -1 }) {
			assertRefused(LockError.INVALID_PERMITS, () -> this.request.withPermits(permits));
		}
		Duration minute = Duration.ofMinutes(1);
		assertRefused(LockError.INVALID_MIN_HOLD, () -> this.request.withMinHold(minute).shared());
		assertRefused(LockError.INVALID_MIN_HOLD, () -> this.request.withPermits(1).withMinHold(minute));
	}

}
