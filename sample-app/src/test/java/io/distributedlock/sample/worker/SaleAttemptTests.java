package io.distributedlock.sample.worker;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import org.springframework.dao.CannotAcquireLockException;

import io.distributedlock.LockKey;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.sample.SaleSettings;
import io.distributedlock.sample.SellCommand;
import io.distributedlock.sample.WorkerReport.Incident;
import io.distributedlock.sample.WorkerReport.Kind;
import io.distributedlock.sample.worker.SaleAttempt.Outcome;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.mock;

class SaleAttemptTests {

	private static final Duration LEASE = Duration.ofSeconds(4);

	private static final SellCommand COMMAND = new SellCommand(1,
			new SaleSettings(true, true, true, LEASE, Duration.ZERO, 1));

	private final SeatSales sales = mock(SeatSales.class);

	private final ReportChannel reports = mock(ReportChannel.class);

	private final SaleAttempt attempt = new SaleAttempt(this.sales, mock(LockedSales.class), mock(SeatLedger.class),
			this.reports, LEASE);

	@Test
	void goesOnAfterALockThatWasNotAcquired() {
		given(this.sales.sell(1, Duration.ZERO))
			.willThrow(new LockNotAcquiredException(LockKey.of("seats", "1"), LEASE, null));
		assertThat(this.attempt.make(COMMAND)).isEqualTo(Outcome.NOT_ACQUIRED);
		then(this.reports).shouldHaveNoInteractions();
	}

	@Test
	void aConflictOfTransactionsIsNoLostLock() {
		given(this.sales.sell(1, Duration.ZERO)).willThrow(new CannotAcquireLockException("deadlock"));
		assertThat(this.attempt.make(COMMAND)).isEqualTo(Outcome.NOT_SOLD);
		then(this.reports).should().send(new Incident(Kind.CONFLICT, 0, "0"));
	}

}
