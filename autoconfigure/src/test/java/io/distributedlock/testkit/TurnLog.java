package io.distributedlock.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * The turns of processes that want one key, in the order of their grants. Safe for use by
 * many threads; it is read when they have ended.
 */
final class TurnLog {

	private final long startNanos = System.nanoTime();

	private final ConcurrentMap<Long, ProcessTurn> turns = new ConcurrentSkipListMap<>();

	/** Adds a hold, which belongs to the turn that its grant began. */
	void add(long order, ProcessTurn hold) {
		this.turns.merge(order, hold, ProcessTurn::until);
	}

	int size() {
		return this.turns.size();
	}

	boolean hasHandOffs() {
		return this.turns.values().stream().anyMatch((turn) -> turn.holds() > 1);
	}

	/** Returns the most grants to others while a process was queued in the store. */
	int mostOvertakes() {
		return this.turns.values()
			.stream()
			.mapToInt((turn) -> turn.process().provider().mostOvertakes())
			.max()
			.orElseThrow();
	}

	Duration longestTurn() {
		return this.turns.values().stream().map(ProcessTurn::length).max(Duration::compareTo).orElseThrow();
	}

	/** Returns the longest time for which no process held the lock between two turns. */
	Duration slowestHandOver() {
		List<ProcessTurn> all = new ArrayList<>(this.turns.values());
		Duration slowest = Duration.ZERO;
		for (int i = 1; i < all.size(); i++) {
			Duration handOver = all.get(i).since(all.get(i - 1).endedNanos());
			slowest = (handOver.compareTo(slowest) > 0) ? handOver : slowest;
		}
		return slowest;
	}

	/**
	 * Returns the longest time that a process waited from the end of its turn, or from
	 * the start, until its next turn began.
	 */
	Duration longestWait() {
		Map<ContractProcess, Long> ends = new HashMap<>();
		Duration longest = Duration.ZERO;
		for (ProcessTurn turn : this.turns.values()) {
			Duration wait = turn.since(ends.getOrDefault(turn.process(), this.startNanos));
			longest = (wait.compareTo(longest) > 0) ? wait : longest;
			ends.put(turn.process(), turn.endedNanos());
		}
		return longest;
	}

}
