package io.distributedlock.jdbc;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.jdbc.rowlock.RowLockFixture;
import io.distributedlock.testkit.ContractProcess;
import io.distributedlock.testkit.LockProviderFaultContract;
import io.distributedlock.testkit.LockProviderFixture;
import io.distributedlock.testkit.TimeBounds;
import io.distributedlock.testkit.WholeStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Fault contract of row locks. A lock lasts as long as its connection: the contract's
 * test of a lock that survives the end of all connections is one of a loss that is told.
 */
abstract class AbstractRowLockFaultTests extends LockProviderFaultContract {

	abstract RowLockFixture createRowLocks();

	@Override
	protected final LockProviderFixture createFixture() {
		return createRowLocks();
	}

	@Test
	@Override
	@WholeStore
	public void heldLockSurvivesTheEndOfAllConnections() {
		ContractProcess process = process();
		Duration lease = TimeBounds.withLoad(Duration.ofSeconds(2));
		LockLease held = process.locks()
			.acquire(LockRequest.of(freshKey()).withLease(lease).withWaitTime(Duration.ofSeconds(10)));
		faults().killConnections();
		long ended = System.nanoTime();
		await().until(() -> !held.isHeld());
		assertThat(Duration.ofNanos(System.nanoTime() - ended)).isLessThan(TimeBounds.withLoad(lease));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(held::ensureHeld)
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LossReason.NOT_HELD));
		assertStoreIsEmpty();
	}

}
