package io.distributedlock.benchmarks.scenario;

import java.time.Duration;

import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Ability;
import io.distributedlock.benchmarks.contender.Library;

/**
 * Keys that are locked once each, and what stays in the JVM and in the store: a million,
 * or as many as the store keeps up with.
 */
final class DistinctKeys implements Scenario {

	private static final int KEYS = 1_000_000;

	/** Keys that load classes, open connections and fill caches of a fixed size. */
	private static final int FIRST = 1000;

	/** A store that waits for the disk would take ten minutes. */
	private static final Duration LONGEST = Duration.ofSeconds(20);

	private static final int THREADS = 16;

	private static final String COUNT = "keys";

	@Override
	public String name() {
		return "distinct-keys";
	}

	@Override
	public boolean suits(Library library, Store store) {
		return library.can(store, Ability.ATTEMPTS) && !library.isRaw();
	}

	@Override
	public boolean needsEmptyStore() {
		return true;
	}

	@Override
	public int rounds(int asked) {
		return 1;
	}

	@Override
	public Duration estimate(Duration duration, Store store) {
		return LONGEST.plusSeconds(8);
	}

	@Override
	public Measurement measure(Trial trial) {
		Task task = Task.of(this);
		Answer before = trial.runAlone(task.with(COUNT, FIRST));
		long sizeBefore = trial.size();
		Answer after = trial.runAlone(task.with(COUNT, KEYS));
		return Measurement
			.of(new Figure("heap-left", (after.value("heap") - before.value("heap")) / after.value(COUNT),
					"bytes per key"))
			.with("keys", after.value(COUNT), "count")
			.with("threads", after.value("threads") - before.value("threads"), "count")
			.with("entries-left", (double) trial.size() - sizeBefore, "count");
	}

	@Override
	public Answer work(WorkerContext worker, Task task) throws Exception {
		int keys = task.count(COUNT);
		String prefix = Integer.toString(keys, Character.MAX_RADIX) + "-";
		Answer locked = Uncontended.lock(worker.contender(), prefix, THREADS, keys, LONGEST);
		return Footprint.now().answer().with(COUNT, locked.value("pairs"));
	}

}
