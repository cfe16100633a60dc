package io.distributedlock.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

import io.distributedlock.FencingToken;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;

import static io.distributedlock.testkit.ContractConstants.ALLOWED_OVERTAKES;
import static io.distributedlock.testkit.ContractConstants.LONGEST_TURN;
import static io.distributedlock.testkit.ContractConstants.LONG_WAIT;
import static io.distributedlock.testkit.ContractConstants.PATIENCE;
import static io.distributedlock.testkit.ContractConstants.TOLERANCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Part of the contract on hand-offs: a lock that a process has goes from thread to thread
 * without the store, and yet no other process waits for long.
 */
interface HandOffContract extends ContractSupport {

	@Test
	default void lockIsHandedOffInsideTheProcess() throws Exception {
		Assumptions.assumeTrue(ContractProcess.HANDS_OFF);
		ContractProcess process = process();
		// A grant is handed off while it is young, which a slow machine may miss.
		long start = System.nanoTime();
		boolean handedOff = false;
		while (!handedOff && ContractSupport.since(start).compareTo(LONG_WAIT) < 0) {
			handedOff = isHandedOff(process);
		}
		assertThat(handedOff).as("a hand-off").isTrue();
		await().atMost(PATIENCE).until(() -> process.locks().snapshot().held().isEmpty());
		assertStoreIsEmpty();
	}

	private boolean isHandedOff(ContractProcess process) throws Exception {
		LockRequest request = LockRequest.of(freshKey()).withWaitTime(LONG_WAIT);
		LockLease first = process.locks().acquire(request);
		FencingToken token = first.fencingToken();
		TestThread<FencingToken> next = TestThread.start(() -> {
			try (LockLease lease = process.locks().acquire(request)) {
				lease.ensureHeld();
				assertThat(first.isHeld()).isFalse();
				// A handle that is closed again ends no other hold.
				first.close();
				lease.ensureHeld();
				return lease.fencingToken();
			}
		});
		await().atMost(PATIENCE).until(() -> !process.locks().snapshot().waiting().isEmpty());
		int commands = process.provider().commands();
		first.close();
		FencingToken following = next.result();
		assertThat(following).isGreaterThan(token);
		if (following.order() != token.order()) {
			return false;
		}
		assertThat(process.provider().commands()).as("the release of the last hold").isEqualTo(commands + 1);
		return true;
	}

	@Test
	default void noProcessStarvesBesideHandOffs() throws Exception {
		if (!fixture().hasWaitQueue()) {
			return;
		}
		// A machine that stops a holder makes its turn longer, and the others wait.
		long start = System.nanoTime();
		TurnLog contest = contest();
		while (!isFair(contest) && ContractSupport.since(start).compareTo(LONG_WAIT) < 0) {
			contest = contest();
		}
		assertThat(isFair(contest))
			.as("longest turn %s, longest wait %s, slowest hand-over %s, overtakes %s", contest.longestTurn(),
					contest.longestWait(), contest.slowestHandOver(), contest.mostOvertakes())
			.isTrue();
		assertStoreIsEmpty();
	}

	/** Lets three processes of four threads want one key without a pause. */
	private TurnLog contest() throws Exception {
		LockRequest request = LockRequest.of(freshKey()).withWaitTime(LONG_WAIT);
		TurnLog log = new TurnLog();
		Set<ContractProcess> served = ConcurrentHashMap.newKeySet();
		List<ContractProcess> processes = List.of(process(), process(), process());
		List<TestThread<Void>> threads = new ArrayList<>();
		for (ContractProcess process : processes) {
			for (int thread = 0; thread < 4; thread++) {
				threads.add(TestThread.start(() -> {
					while (log.size() < 24 || served.size() < processes.size()) {
						try (LockLease lease = process.locks().acquire(request)) {
							long began = System.nanoTime();
							lease.ensureHeld();
							served.add(process);
							log.add(lease.fencingToken().order(), ProcessTurn.of(process, began));
						}
					}
					return null;
				}));
			}
		}
		for (TestThread<Void> thread : threads) {
			thread.result();
		}
		assertThat(ContractProcess.HANDS_OFF || !log.hasHandOffs()).as("no hand-off when it is switched off").isTrue();
		return log;
	}

	private boolean isFair(TurnLog contest) {
		Duration longestWait = LONGEST_TURN.plus(contest.slowestHandOver()).multipliedBy(4).plus(TOLERANCE);
		return contest.hasHandOffs() == ContractProcess.HANDS_OFF && contest.mostOvertakes() <= ALLOWED_OVERTAKES
				&& contest.longestTurn().compareTo(LONGEST_TURN) < 0
				&& contest.longestWait().compareTo(longestWait) < 0;
	}

}
