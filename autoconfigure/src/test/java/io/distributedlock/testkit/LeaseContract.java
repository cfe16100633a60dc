package io.distributedlock.testkit;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

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
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * Part of the contract on leases: renewal extends a lease until its release or its
 * longest hold, and a handle releases only its own grant.
 */
interface LeaseContract extends ContractSupport {

	@Test
	default void renewalKeepsAShortLeaseForSeveralLeases() {
		LockKey key = freshKey();
		ContractProcess holder = process();
		ContractProcess other = process();
		try (LockLease lease = holder.locks().acquire(LockRequest.of(key).withLease(SHORT_LEASE))) {
			await().during(SHORT_LEASE.multipliedBy(3))
				.atMost(PATIENCE)
				.pollInterval(Duration.ofMillis(50))
				.until(() -> lease.isHeld() && other.isBusy(key));
			assertThat(lease.remaining()).isBetween(Duration.ofMillis(1), SHORT_LEASE);
			assertThat(holder.provider().renewals()).isBetween(5, 30);
		}
		assertThat(other.isBusy(key)).isFalse();
	}

	@Test
	default void renewalEndsWithTheRelease() {
		ContractProcess holder = process();
		LockLease lease = holder.locks().acquire(LockRequest.of(freshKey()).withLease(SHORT_LEASE));
		await().until(() -> holder.provider().renewals() > 1);
		lease.close();
		int released = holder.provider().renewals();
		// One that was claimed before the release may be sent after it.
		AtomicInteger renewals = new AtomicInteger(released);
		await().during(SHORT_LEASE.dividedBy(2))
			.atMost(PATIENCE)
			.until(() -> holder.provider().renewals(), (sent) -> renewals.getAndSet(sent) == sent);
		assertThat(renewals.get()).isLessThanOrEqualTo(released + 1);
		assertStoreIsEmpty();
	}

	@Test
	default void leaseWithoutRenewalLimitsTheHold() {
		LockKey key = freshKey();
		ContractProcess holder = process();
		LockTemplate locks = holder.locks();
		long asked = System.nanoTime();
		LockLease lease = locks.acquire(LockRequest.of(key).withLease(SHORT_LEASE).withRenew(false));
		long acquired = System.nanoTime();
		await().pollInterval(Duration.ofMillis(5)).atMost(PATIENCE).until(() -> !lease.isHeld());
		assertThat(ContractSupport.since(acquired)).isLessThan(SHORT_LEASE.plus(TOLERANCE));
		assertThat(ContractSupport.since(asked)).isGreaterThan(SHORT_LEASE.dividedBy(2));
		assertThat(lease.remaining()).isZero();
		assertThat(holder.provider().renewals()).isZero();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::ensureHeld)
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LossReason.EXPIRED));
		try (LockLease next = process().locks().acquire(LockRequest.of(key).withWaitTime(PATIENCE))) {
			lease.close();
			next.ensureHeld();
		}
	}

	@Test
	default void renewalStopsAtTheLongestHold() {
		LockKey key = freshKey();
		Duration maxHold = SHORT_LEASE.multipliedBy(3).dividedBy(2);
		LockTemplate locks = process().locks();
		long asked = System.nanoTime();
		LockLease lease = locks.acquire(LockRequest.of(key).withLease(SHORT_LEASE).withMaxHold(maxHold));
		long acquired = System.nanoTime();
		LockTemplate other = process().locks();
		await().pollInterval(Duration.ofMillis(5)).atMost(PATIENCE).until(() -> !lease.isHeld());
		assertThat(ContractSupport.since(acquired)).isLessThan(maxHold.plus(TOLERANCE));
		assertThat(ContractSupport.since(asked)).isGreaterThan(SHORT_LEASE);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::ensureHeld)
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LossReason.MAX_HOLD));
		other.acquire(LockRequest.of(key).withWaitTime(PATIENCE)).close();
		assertThat(ContractSupport.since(acquired)).isLessThan(maxHold.plus(SHORT_LEASE).plus(TOLERANCE));
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
