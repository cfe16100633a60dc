package io.distributedlock.testkit;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.engine.LockTemplate;

import static io.distributedlock.testkit.ContractConstants.LONG_LEASE;
import static io.distributedlock.testkit.ContractConstants.PATIENCE;
import static io.distributedlock.testkit.ContractConstants.TOLERANCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Part of the contract on losses: the holder learns of a lost lock, and a stale handle
 * changes nothing.
 */
interface LossContract extends ContractSupport {

	@Test
	default void lossIsReportedInEveryWay() {
		withShortLease((leaseTime) -> {
			LockKey key = freshKey();
			ContractProcess next = process();
			LockRecorder recorder = new LockRecorder();
			AtomicInteger actions = new AtomicInteger();
			LockLease lease = process().locks(recorder).acquire(LockRequest.of(key).withLease(leaseTime));
			lease.onLost(actions::incrementAndGet);
			fixture().expire(key);
			long expired = System.nanoTime();
			next.acquire(key, LONG_LEASE);
			ContractSupport.awaitLoss(lease);
			assertThat(ContractSupport.since(expired)).isLessThan(leaseTime.plus(TOLERANCE));
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::ensureHeld).satisfies((ex) -> {
				assertThat(ex.error()).isEqualTo(LockError.LOST);
				assertThat(ex.key()).isEqualTo(key);
				assertThat(ex.reason()).isEqualTo(LossReason.NOT_HELD);
			});
			await().until(() -> actions.get() == 1);
			lease.onLost(actions::incrementAndGet);
			await().until(() -> actions.get() == 2);
			await().untilAsserted(() -> assertThat(recorder.events()).contains("lost NOT_HELD",
					"observed loss NOT_HELD", "observed end"));
			lease.close();
			assertThat(recorder.events()).doesNotContain("released");
			boolean busy = next.isBusy(key);
			Rounds.promise(() -> assertThat(busy).as("still of the next holder").isTrue());
		});
	}

	@Test
	default void lossFailsABodyThatReturnsNormally() {
		withShortLease((leaseTime) -> {
			LockKey key = freshKey();
			LockTemplate locks = process().locks();
			LockRequest request = LockRequest.of(key).withLease(leaseTime);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> locks.execute(request, (lease) -> {
				fixture().expire(key);
				ContractSupport.awaitLoss(lease);
				return "result";
			})).satisfies((ex) -> assertThat(ex.key()).isEqualTo(key));
		});
	}

	@Test
	default void lossFoundByTheReleaseIsThrown() {
		LockKey key = freshKey();
		LockTemplate locks = process().locks();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> locks.execute(LockRequest.of(key).withoutRenewal(), (lease) -> {
				fixture().expire(key);
				process().acquire(key);
				return "result";
			}))
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LossReason.NOT_HELD));
	}

	@Test
	default void exceptionOfTheBodyCarriesTheLossAsSuppressed() {
		withShortLease((leaseTime) -> {
			LockKey key = freshKey();
			LockTemplate locks = process().locks();
			LockRequest request = LockRequest.of(key).withLease(leaseTime);
			IOException problem = new IOException("of the body");
			assertThatExceptionOfType(IOException.class).isThrownBy(() -> locks.execute(request, (lease) -> {
				fixture().expire(key);
				ContractSupport.awaitLoss(lease);
				throw problem;
			})).satisfies((ex) -> {
				assertThat(ex).isSameAs(problem);
				assertThat(ex.getSuppressed()).hasSize(1)
					.allSatisfy((loss) -> assertThat(loss).isInstanceOf(LockLostException.class));
			});
		});
	}

	@Test
	default void staleHandleLeavesTheNextGrantOfItsProcessAlone() {
		withShortLease((leaseTime) -> {
			LockKey key = freshKey();
			ContractProcess other = process();
			LockTemplate locks = process().locks();
			LockLease stale = locks.acquire(LockRequest.of(key).withLease(leaseTime));
			fixture().expire(key);
			ContractSupport.awaitLoss(stale);
			try (LockLease present = locks.acquire(LockRequest.of(key))) {
				Rounds.promise(() -> assertThat(present.fencingToken()).isGreaterThan(stale.fencingToken()));
				stale.close();
				stale.close();
				assertThat(ContractSupport.isHeldAlone(present, other, key)).isTrue();
				present.ensureHeld();
				Rounds.promise(() -> assertThat(stale.isHeld()).isFalse());
			}
			assertThat(other.isBusy(key)).isFalse();
		});
	}

	@Test
	default void lossOfOneLockLeavesOthersAlone() {
		withShortLease((leaseTime) -> {
			LockKey key = freshKey();
			LockTemplate locks = process().locks();
			try (LockLease other = locks.acquire(LockRequest.of(freshKey()).withLease(leaseTime));
					LockLease lost = locks.acquire(LockRequest.of(key).withLease(leaseTime))) {
				fixture().expire(key);
				ContractSupport.awaitLoss(lost);
				ContractSupport.assertStays(leaseTime, other::isHeld);
			}
		});
	}

	@Test
	default void blockedOrThrowingActionDoesNotDelayOthers() {
		withShortLease((leaseTime) -> {
			CountDownLatch blocked = new CountDownLatch(1);
			try {
				assertActionsRunBesideABlockedOne(leaseTime, blocked);
			}
			finally {
				blocked.countDown();
			}
		});
	}

	private void assertActionsRunBesideABlockedOne(Duration leaseTime, CountDownLatch blocked) {
		LockKey first = freshKey();
		LockKey second = freshKey();
		LockTemplate locks = process().locks();
		AtomicInteger actions = new AtomicInteger();
		LockLease one = locks.acquire(LockRequest.of(first).withLease(leaseTime));
		LockLease two = locks.acquire(LockRequest.of(second).withLease(leaseTime));
		one.onLost(() -> {
			try {
				blocked.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		});
		two.onLost(() -> {
			throw new IllegalStateException("of the action");
		});
		two.onLost(actions::incrementAndGet);
		fixture().expire(first);
		ContractSupport.awaitLoss(one);
		fixture().expire(second);
		ContractSupport.awaitLoss(two);
		await().atMost(PATIENCE).until(() -> actions.get() == 1);
	}

}
