package io.distributedlock.process;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.distributedlock.LockLease;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.process.Endpoint.Database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The library's threads keep no JVM alive, and are no more for many locks than for one.
 */
@Tag("full")
class ThreadsTests {

	private static final Duration LEASE = Duration.ofSeconds(3);

	/** The further threads of all pools, which a slow machine may start. */
	private static final int SPARE = 20;

	@ParameterizedTest
	@EnumSource(Database.class)
	void mainThatClosesNothingEnds(Database database) throws Exception {
		Endpoint endpoint = Endpoint.create(database);
		try (LockProcess process = LockProcess.start(UnclosedMain.class, endpoint.arguments())) {
			assertThat(process.answer()).isEqualTo("true");
			assertThat(process.awaitEnd(Duration.ofSeconds(20))).isZero();
		}
	}

	@Test
	void hundredLocksInMemoryNeedNoMoreThreadsThanOne() {
		try (LocalLocks locks = new LocalLocks((timer) -> new LocalLockProvider(), 0.1)) {
			holdsHundredWithTheThreadsOfOne(locks);
		}
	}

	@ParameterizedTest
	@EnumSource(Database.class)
	void hundredLocksInADatabaseNeedNoMoreThreadsThanOne(Database database) {
		Endpoint endpoint = Endpoint.create(database);
		try (LocalLocks locks = new LocalLocks(endpoint::provider, 0.1)) {
			holdsHundredWithTheThreadsOfOne(locks);
		}
	}

	private static void holdsHundredWithTheThreadsOfOne(LocalLocks locks) {
		for (int i = 0; i < 20; i++) {
			locks.template().acquire(LocalLocks.request("warm-up", LEASE)).close();
		}
		List<LockLease> held = new ArrayList<>();
		held.add(locks.template().acquire(LocalLocks.request("first", LEASE)));
		awaitRenewals(locks, 3);
		long threads = LocalLocks.threads();
		for (int i = 1; i < 100; i++) {
			held.add(locks.template().acquire(LocalLocks.request("further-" + i, LEASE)));
		}
		awaitRenewals(locks, 200);
		assertThat(held).allMatch(LockLease::isHeld);
		assertThat(LocalLocks.threads()).isPositive().isLessThanOrEqualTo(threads + SPARE);
		held.forEach(LockLease::close);
	}

	private static void awaitRenewals(LocalLocks locks, int further) {
		int before = locks.log().renewed();
		await().until(() -> locks.log().renewed() >= before + further);
	}

}
