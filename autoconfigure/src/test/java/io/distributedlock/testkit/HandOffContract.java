package io.distributedlock.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

import io.distributedlock.FencingToken;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;

import static io.distributedlock.testkit.ContractConstants.LONGEST_TURN;
import static io.distributedlock.testkit.ContractConstants.LONG_WAIT;
import static io.distributedlock.testkit.ContractConstants.PATIENCE;
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
	default void otherProcessesGetTheirTurnsBetweenHandOffs() throws Exception {
		// A machine that stops a holder makes its turn longer.
		long start = System.nanoTime();
		boolean bounded = turnsAreBounded();
		while (!bounded && ContractSupport.since(start).compareTo(LONG_WAIT) < 0) {
			bounded = turnsAreBounded();
		}
		assertThat(bounded).as("turns of at most %s", LONGEST_TURN).isTrue();
		assertStoreIsEmpty();
	}

	private boolean turnsAreBounded() throws Exception {
		LockRequest request = LockRequest.of(freshKey()).withWaitTime(LONG_WAIT);
		Map<Long, ProcessTurn> turns = new ConcurrentHashMap<>();
		Set<ContractProcess> served = ConcurrentHashMap.newKeySet();
		List<ContractProcess> processes = List.of(process(), process(), process());
		List<TestThread<Void>> threads = new ArrayList<>();
		for (ContractProcess process : processes) {
			for (int thread = 0; thread < 4; thread++) {
				threads.add(TestThread.start(() -> {
					while (turns.size() < 12 || served.size() < processes.size()) {
						try (LockLease lease = process.locks().acquire(request)) {
							lease.ensureHeld();
							served.add(process);
							ProcessTurn now = new ProcessTurn(System.nanoTime(), System.nanoTime(), 1);
							turns.merge(lease.fencingToken().order(), now, ProcessTurn::until);
						}
					}
					return null;
				}));
			}
		}
		for (TestThread<Void> thread : threads) {
			thread.result();
		}
		boolean handedOff = turns.values().stream().anyMatch((turn) -> turn.holds() > 1);
		assertThat(handedOff && !ContractProcess.HANDS_OFF).as("a hand-off although it is switched off").isFalse();
		return handedOff == ContractProcess.HANDS_OFF
				&& turns.values().stream().allMatch((turn) -> turn.length().compareTo(LONGEST_TURN) < 0);
	}

}
