package io.distributedlock.fencing;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.distributedlock.LockKey;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;

/** When fences are swept; {@link FenceDialectTests} tells which. */
class FenceSweeperTests {

	@Test
	void threadsThatAddTheirFirstDatabaseAtOnceScheduleOneSweep() {
		LockTimer timer = mock(LockTimer.class);
		AtomicInteger scheduled = new AtomicInteger();
		FenceSettings settings = new FenceSettings(FenceSettings.DEFAULT_TABLE, "app", Duration.ofSeconds(5),
				Duration.ofSeconds(3));
		try (FenceSweeper sweeper = new FenceSweeper(settings, timer)) {
			given(timer.trySchedule(any(), anyLong())).will((call) -> {
				if (scheduled.incrementAndGet() == 1) {
					FutureTask<Boolean> other = new FutureTask<>(() -> sweeper.add(mock(DataSource.class)), true);
					new Thread(other, "other").start();
					other.get(30, TimeUnit.SECONDS);
				}
				return new CompletableFuture<>();
			});
			sweeper.add(mock(DataSource.class));
			sweeper.add(mock(DataSource.class));
		}
		assertThat(scheduled).hasValue(1);
	}

	@Test
	void databaseThatTheStartDidNotKnowIsSweptFromItsFirstFenceOn() {
		LockTimer sweeps = mock(LockTimer.class);
		given(sweeps.trySchedule(any(), anyLong())).willReturn(new CompletableFuture<>());
		FenceSettings settings = new FenceSettings(FenceSettings.DEFAULT_TABLE, "app", Duration.ofSeconds(5),
				Duration.ofSeconds(3));
		LockTimer timer = new LockTimer();
		try (FencedTransactions fences = new FencedTransactions(settings, new FenceSweeper(settings, sweeps));
				LockTemplate locks = new LockTemplate(new LocalLockProvider(), LockSettings.defaults(), timer,
						List.of(), List.of())) {
			DataSourceTransactionManager manager = new DataSourceTransactionManager(FenceDatabase.H2.create());
			manager.addListener(new FencingListener(manager, true, () -> fences));
			TransactionTemplate transaction = new TransactionTemplate(manager);
			transaction.executeWithoutResult((status) -> {
				// Nobody holds a lock.
			});
			then(sweeps).should(never()).trySchedule(any(), anyLong());
			for (int number = 0; number < 2; number++) {
				locks.execute(LockRequest.of(LockKey.of("order", "1")), (lease) -> {
					transaction.executeWithoutResult((status) -> lease.ensureHeld());
					return true;
				});
			}
			then(sweeps).should().trySchedule(any(), anyLong());
		}
		finally {
			timer.close();
		}
	}

}
