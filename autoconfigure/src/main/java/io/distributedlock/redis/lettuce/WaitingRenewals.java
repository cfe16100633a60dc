package io.distributedlock.redis.lettuce;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.Deadline;

/**
 * The scripts of renewals that wait for a worker, by node. The scripts of one renewal
 * have the same deadline, so that the first worker for one of them can run all together.
 * Safe for use by many threads.
 */
final class WaitingRenewals {

	private final Map<Group, List<LettuceWorkerRun>> waiting = new ConcurrentHashMap<>();

	void add(@Nullable Object node, LettuceWorkerRun run) {
		this.waiting.compute(new Group(node, run.deadline()), (group, present) -> {
			List<LettuceWorkerRun> all = (present != null) ? present : new ArrayList<>();
			all.add(run);
			return all;
		});
	}

	/** Removes a run unless a worker has it; returns whether it was there. */
	boolean remove(@Nullable Object node, LettuceWorkerRun run) {
		boolean[] removed = new boolean[1];
		this.waiting.computeIfPresent(new Group(node, run.deadline()), (group, present) -> {
			removed[0] = present.remove(run);
			return present.isEmpty() ? null : present;
		});
		return removed[0];
	}

	/**
	 * Removes the runs to a node that have the same deadline; none if a worker has them.
	 */
	List<LettuceWorkerRun> removeAll(@Nullable Object node, Deadline deadline) {
		List<LettuceWorkerRun> all = this.waiting.remove(new Group(node, deadline));
		return (all != null) ? all : List.of();
	}

	private record Group(@Nullable Object node, Deadline deadline) {
	}

}
