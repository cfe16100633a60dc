package io.distributedlock.fencing;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;

import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** When fences are swept; {@link FenceDialectTests} tells which. */
class FenceSweeperTests {

	@Test
	void threadsThatAddTheirFirstDatabaseAtOnceScheduleOneSweep() {
		LockTimer timer = mock(LockTimer.class);
		AtomicInteger scheduled = new AtomicInteger();
		FenceSettings settings = new FenceSettings(FenceSettings.DEFAULT_TABLE, "app", Duration.ofSeconds(5),
				Duration.ofSeconds(3));
		try (FenceSweeper sweeper = new FenceSweeper(settings, timer)) {
			given(timer.schedule(any(), any())).will((call) -> {
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

}
