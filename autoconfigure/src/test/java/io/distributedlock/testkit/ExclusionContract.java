package io.distributedlock.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;

import static io.distributedlock.testkit.ContractConstants.ALLOWED_OVERTAKES;
import static io.distributedlock.testkit.ContractConstants.LONG_WAIT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Part of the contract on exclusion: one holder at a time, rising fencing tokens, and no
 * process that waits without end.
 */
interface ExclusionContract extends ContractSupport {

	@Test
	default void holdersExcludeEachOtherAndTokensRise() throws Exception {
		LockRequest request = LockRequest.of(freshKey()).withWaitTime(LONG_WAIT);
		AtomicInteger inside = new AtomicInteger();
		int[] counter = new int[1];
		List<Long> tokens = new ArrayList<>();
		List<TestThread<Void>> threads = new ArrayList<>();
		for (ContractProcess process : List.of(process(), process(), process())) {
			for (int thread = 0; thread < 4; thread++) {
				threads.add(TestThread.start(() -> {
					for (int round = 0; round < 8; round++) {
						process.locks().execute(request, (lease) -> {
							assertThat(inside.incrementAndGet()).isEqualTo(1);
							counter[0]++;
							tokens.add(lease.fencingToken().value());
							assertThat(inside.decrementAndGet()).isZero();
							return null;
						});
					}
					return null;
				}));
			}
		}
		for (TestThread<Void> thread : threads) {
			thread.result();
		}
		assertThat(counter[0]).isEqualTo(3 * 4 * 8);
		assertThat(tokens).hasSize(3 * 4 * 8).isSorted().doesNotHaveDuplicates();
		assertStoreIsEmpty();
	}

	@Test
	default void queuedProcessIsNotOvertaken() throws Exception {
		if (!fixture().hasWaitQueue()) {
			return;
		}
		// A process that the machine stops for longer than the grace is overtaken.
		long start = System.nanoTime();
		boolean fair = contestIsFair();
		while (!fair && ContractSupport.since(start).compareTo(LONG_WAIT) < 0) {
			fair = contestIsFair();
		}
		assertThat(fair).as("a contest in which no process was overtaken more than %s times", ALLOWED_OVERTAKES)
			.isTrue();
	}

	private boolean contestIsFair() throws Exception {
		LockRequest request = LockRequest.of(freshKey()).withWaitTime(LONG_WAIT);
		List<ContractProcess> processes = List.of(process(), process(), process());
		Set<Long> grants = ConcurrentHashMap.newKeySet();
		List<TestThread<Void>> threads = new ArrayList<>();
		for (ContractProcess process : processes) {
			for (int thread = 0; thread < 2; thread++) {
				threads.add(TestThread.start(() -> {
					boolean more = true;
					while (more) {
						try (LockLease lease = process.locks().acquire(request)) {
							lease.ensureHeld();
							grants.add(lease.fencingToken().order());
							more = grants.size() < 60;
						}
					}
					return null;
				}));
			}
		}
		for (TestThread<Void> thread : threads) {
			thread.result();
		}
		return processes.stream().allMatch((process) -> process.provider().mostOvertakes() <= ALLOWED_OVERTAKES);
	}

	@Test
	default void tokensRiseFromHolderToHolder() {
		LockKey key = freshKey();
		List<ContractProcess> processes = List.of(process(), process());
		long last = 0;
		for (int round = 0; round < 10; round++) {
			try (LockLease lease = processes.get(round % 2).locks().acquire(LockRequest.of(key))) {
				assertThat(lease.fencingToken().value()).isGreaterThan(last);
				last = lease.fencingToken().value();
			}
		}
	}

}
