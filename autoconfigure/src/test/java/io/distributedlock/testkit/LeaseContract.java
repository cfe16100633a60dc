package io.distributedlock.testkit;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.engine.LockTemplate;

import static io.distributedlock.testkit.ContractConstants.TOLERANCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * Part of the contract on leases: renewal extends a lease until its release or its
 * longest hold, and a handle releases only its own grant.
 */
interface LeaseContract extends ContractSupport {

	@Test
	default void renewalKeepsAShortLeaseForSeveralLeases() {
		withShortLease((leaseTime) -> {
			LockKey key = freshKey();
			ContractProcess holder = process();
			ContractProcess other = process();
			try (LockLease lease = holder.locks().acquire(LockRequest.of(key).withLease(leaseTime))) {
				ContractSupport.assertStays(leaseTime.multipliedBy(3),
						() -> ContractSupport.isHeldAlone(lease, other, key));
				assertThat(lease.remaining()).isBetween(Duration.ofMillis(1), leaseTime);
				assertThat(holder.provider().renewals()).isBetween(5, 30);
			}
			assertThat(other.isBusy(key)).isFalse();
		});
	}

	@Test
	default void renewalEndsWithTheRelease() {
		withShortLease((leaseTime) -> {
			ContractProcess holder = process();
			LockLease lease = holder.locks().acquire(LockRequest.of(freshKey()).withLease(leaseTime));
			await().atMost(ContractSupport.patience(leaseTime))
				.until(() -> holder.provider().renewals() > 1 || !lease.isHeld());
			boolean held = lease.isHeld();
			lease.close();
			int released = holder.provider().renewals();
			assertThat(held).isTrue();
			// One that was claimed before the release may be sent after it.
			TestThread.pass(leaseTime.dividedBy(6));
			int renewals = holder.provider().renewals();
			ContractSupport.assertStays(leaseTime, () -> {
				int sent = holder.provider().renewals();
				Rounds.promise(() -> assertThat(sent).isLessThanOrEqualTo(released + 1));
				return sent == renewals;
			});
		});
		assertStoreIsEmpty();
	}

	@Test
	default void leaseWithoutRenewalLimitsTheHold() {
		withShortLease((leaseTime) -> {
			LockKey key = freshKey();
			ContractProcess holder = process();
			LockTemplate locks = holder.locks();
			long asked = System.nanoTime();
			LockLease lease = locks.acquire(LockRequest.of(key).withLease(leaseTime).withoutRenewal());
			long acquired = System.nanoTime();
			await().pollInterval(Duration.ofMillis(5))
				.atMost(ContractSupport.patience(leaseTime))
				.until(() -> !lease.isHeld());
			assertThat(ContractSupport.since(acquired)).isLessThan(leaseTime.plus(TOLERANCE));
			assertThat(ContractSupport.since(asked)).isGreaterThan(leaseTime.dividedBy(2));
			assertThat(lease.remaining()).isZero();
			assertThat(holder.provider().renewals()).isZero();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::ensureHeld)
				.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LossReason.EXPIRED));
			try (LockLease next = process().locks()
				.acquire(LockRequest.of(key).withWaitTime(ContractSupport.patience(leaseTime)))) {
				lease.close();
				next.ensureHeld();
			}
		});
	}

	@Test
	default void renewalStopsAtTheLongestHold() {
		withShortLease((leaseTime) -> {
			LockKey key = freshKey();
			Duration maxHold = leaseTime.multipliedBy(3).dividedBy(2);
			LockTemplate locks = process().locks();
			LockTemplate other = process().locks();
			long asked = System.nanoTime();
			LockLease lease = locks.acquire(LockRequest.of(key).withLease(leaseTime).withMaxHold(maxHold));
			long acquired = System.nanoTime();
			await().pollInterval(Duration.ofMillis(5))
				.atMost(ContractSupport.patience(leaseTime))
				.until(() -> !lease.isHeld());
			assertThat(ContractSupport.since(acquired)).isLessThan(maxHold.plus(TOLERANCE));
			assertThat(ContractSupport.since(asked)).isGreaterThan(leaseTime);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::ensureHeld)
				.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LossReason.MAX_HOLD));
			other.acquire(LockRequest.of(key).withWaitTime(ContractSupport.patience(leaseTime))).close();
			assertThat(ContractSupport.since(acquired)).isLessThan(maxHold.plus(leaseTime).plus(TOLERANCE));
		});
	}

	@Test
	default void closingTwiceReleasesOnce() {
		LockKey key = freshKey();
		ContractProcess holder = process();
		LockLease lease = holder.locks().acquire(LockRequest.of(key));
		lease.close();
		assertThat(lease.isHeld()).isFalse();
		assertThatIllegalStateException().isThrownBy(lease::ensureHeld);
		ContractProcess other = process();
		other.acquire(key);
		lease.close();
		assertThat(holder.provider().releases()).isEqualTo(1);
		assertThat(process().isBusy(key)).isTrue();
	}

	@Test
	default void anyThreadMayCheckAndClose() throws Exception {
		LockKey key = freshKey();
		LockLease lease = process().locks().acquire(LockRequest.of(key));
		assertThat(TestThread.start(() -> {
			boolean held = lease.isHeld();
			lease.close();
			return held;
		}).result()).isTrue();
		assertThat(lease.isHeld()).isFalse();
		process().acquire(key);
	}

	@Test
	default void tokenStaysReadableAfterTheRelease() {
		LockLease lease = process().locks().acquire(LockRequest.of(freshKey()));
		long token = lease.fencingToken().value();
		lease.close();
		assertThat(lease.fencingToken().value()).isEqualTo(token);
	}

}
