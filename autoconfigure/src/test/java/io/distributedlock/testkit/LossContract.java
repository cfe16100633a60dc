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
import io.distributedlock.support.LockTemplate;

import static io.distributedlock.testkit.ContractConstants.PATIENCE;
import static io.distributedlock.testkit.ContractConstants.SHORT_LEASE;
import static io.distributedlock.testkit.ContractConstants.TOLERANCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Part of the contract on losses: the holder learns of a lost lock, and a stale handle
 * changes nothing.
 */
interface LossContract extends ContractSupport {

	private LockRequest shortLease(LockKey key) {
		return LockRequest.of(key).withLease(SHORT_LEASE);
	}

	private static void awaitLoss(LockLease lease) {
		await().pollInterval(Duration.ofMillis(5)).atMost(PATIENCE).until(() -> !lease.isHeld());
	}

	@Test
	default void lossIsReportedInEveryWay() {
		LockKey key = freshKey();
		LockRecorder recorder = new LockRecorder();
		AtomicInteger actions = new AtomicInteger();
		LockLease lease = process().locks(recorder).acquire(shortLease(key));
		lease.onLost(actions::incrementAndGet);
		fixture().expire(key);
		long expired = System.nanoTime();
		ContractProcess next = process();
		next.acquire(key);
		awaitLoss(lease);
		assertThat(ContractSupport.since(expired)).isLessThan(SHORT_LEASE.plus(TOLERANCE));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::ensureHeld).satisfies((ex) -> {
			assertThat(ex.error()).isEqualTo(LockError.LOST);
			assertThat(ex.key()).isEqualTo(key);
			assertThat(ex.reason()).isEqualTo(LossReason.NOT_HELD);
		});
		await().until(() -> actions.get() == 1);
		lease.onLost(actions::incrementAndGet);
		await().until(() -> actions.get() == 2);
		await().untilAsserted(() -> assertThat(recorder.events()).contains("lost NOT_HELD", "observed loss NOT_HELD",
				"observed end"));
		lease.close();
		assertThat(recorder.events()).doesNotContain("released");
		assertThat(next.isBusy(key)).isTrue();
	}

	@Test
	default void lossFailsABodyThatReturnsNormally() {
		LockKey key = freshKey();
		LockTemplate locks = process().locks();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> locks.execute(shortLease(key), (lease) -> {
			fixture().expire(key);
			awaitLoss(lease);
			return "result";
		})).satisfies((ex) -> assertThat(ex.key()).isEqualTo(key));
	}

	@Test
	default void lossFoundByTheReleaseIsThrown() {
		LockKey key = freshKey();
		LockTemplate locks = process().locks();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> locks.execute(LockRequest.of(key).withRenew(false), (lease) -> {
				fixture().expire(key);
				process().acquire(key);
				return "result";
			}))
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LossReason.NOT_HELD));
	}

	@Test
	default void exceptionOfTheBodyCarriesTheLossAsSuppressed() {
		LockKey key = freshKey();
		LockTemplate locks = process().locks();
		IOException problem = new IOException("of the body");
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> locks.execute(shortLease(key), (lease) -> {
			fixture().expire(key);
			awaitLoss(lease);
			throw problem;
		})).satisfies((ex) -> {
			assertThat(ex).isSameAs(problem);
			assertThat(ex.getSuppressed()).hasSize(1)
				.allSatisfy((loss) -> assertThat(loss).isInstanceOf(LockLostException.class));
		});
	}

	@Test
	default void staleHandleLeavesTheNextGrantOfItsProcessAlone() {
		LockKey key = freshKey();
		LockTemplate locks = process().locks();
		LockLease stale = locks.acquire(shortLease(key));
		fixture().expire(key);
		awaitLoss(stale);
		ContractProcess other = process();
		try (LockLease present = locks.acquire(LockRequest.of(key))) {
			assertThat(present.fencingToken()).isGreaterThan(stale.fencingToken());
			stale.close();
			stale.close();
			present.ensureHeld();
			assertThat(stale.isHeld()).isFalse();
			assertThat(other.isBusy(key)).isTrue();
		}
		assertThat(other.isBusy(key)).isFalse();
	}

	@Test
	default void lossOfOneLockLeavesOthersAlone() {
		LockKey key = freshKey();
		LockTemplate locks = process().locks();
		try (LockLease other = locks.acquire(shortLease(freshKey())); LockLease lost = locks.acquire(shortLease(key))) {
			fixture().expire(key);
			awaitLoss(lost);
			await().during(SHORT_LEASE).atMost(PATIENCE).until(other::isHeld);
		}
	}

	@Test
	default void blockedOrThrowingActionDoesNotDelayOthers() throws Exception {
		LockKey first = freshKey();
		LockKey second = freshKey();
		LockTemplate locks = process().locks();
		AtomicInteger actions = new AtomicInteger();
		CountDownLatch blocked = new CountDownLatch(1);
		LockLease one = locks.acquire(shortLease(first));
		LockLease two = locks.acquire(shortLease(second));
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
		awaitLoss(one);
		fixture().expire(second);
		awaitLoss(two);
		await().atMost(PATIENCE).until(() -> actions.get() == 1);
		blocked.countDown();
	}

}
