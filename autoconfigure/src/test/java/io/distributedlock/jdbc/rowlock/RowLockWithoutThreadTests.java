package io.distributedlock.jdbc.rowlock;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.provider.LockProvider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Requests without a thread, which share those that attempt for all of them. */
@Tag("full")
class RowLockWithoutThreadTests {

	private static final int BUSY = 16;

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	@Test
	void freeKeysOfPostgresDoNotWaitBehindBusyOnes() {
		assertFreeKeysAreGranted(new RowLockFixture(TestDatabases.withTable(TestDatabases.postgres())), """
				SELECT count(*) FROM pg_stat_activity
				WHERE datname = current_database() AND wait_event_type = 'Lock'""");
	}

	@Test
	void freeKeysOfH2DoNotWaitBehindBusyOnes() {
		assertFreeKeysAreGranted(new RowLockFixture(TestDatabases.withTable(TestDatabases.h2())),
				"SELECT count(*) FROM information_schema.sessions WHERE blocker_id IS NOT NULL");
	}

	private static void assertFreeKeysAreGranted(RowLockFixture fixture, String waiting) {
		try (fixture; LockTemplate holder = locks(fixture); LockTemplate locks = locks(fixture)) {
			List<LockLease> held = keys("busy", BUSY).map((key) -> holder.acquire(LockRequest.of(key))).toList();
			var waiters = keys("busy", BUSY)
				.map((key) -> locks.acquireAsync(LockRequest.of(key).withWaitTime(PATIENCE)))
				.toList();
			await().until(() -> locks.snapshot().waiting().size() == BUSY);
			keys("free", 20).forEach((key) -> {
				LockRequest request = LockRequest.of(key).withWaitTime(Duration.ofSeconds(5));
				assertThat(locks.acquireAsync(request)).succeedsWithin(PATIENCE).satisfies(LockLease::close);
				assertThat(fixture.jdbc().queryForObject(waiting, Long.class)).as("attempts that wait").isZero();
			});
			assertThat(waiters).noneMatch((waiter) -> waiter.isDone());
			held.forEach(LockLease::close);
			waiters.forEach((waiter) -> assertThat(waiter).succeedsWithin(PATIENCE).satisfies(LockLease::close));
		}
	}

	private static Stream<LockKey> keys(String name, int number) {
		return IntStream.range(0, number).mapToObj((key) -> LockKey.of(name, Integer.toString(key)));
	}

	private static LockTemplate locks(RowLockFixture fixture) {
		LockProvider provider = fixture.newProcess();
		return new LockTemplate(provider, LockSettings.defaults(), fixture.timer(), List.of(), List.of());
	}

}
