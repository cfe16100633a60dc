package io.distributedlock.benchmarks.scenario;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Ability;
import io.distributedlock.benchmarks.contender.HeldLock;
import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.server.Counters;

/**
 * One process that holds 10,000 locks, for longer than their lease or after it has
 * acquired and released them all a number of times. The heap of a lock is what the second
 * half of them adds, so that it has no part in what is there once. The memory of the
 * harness itself is measured with handles that lock nothing, and subtracted.
 */
final class HeldLocks implements Scenario {

	private static final int LOCKS = 10_000;

	private static final int HALF = LOCKS / 2;

	private static final Duration HOLD = Duration.ofSeconds(40);

	/** A store that waits for the disk would take half an hour. */
	private static final Duration LONGEST_REFILLING = Duration.ofSeconds(20);

	private static final String STEP = "step";

	private final int refills;

	private final LockHolders holders = new LockHolders(LOCKS);

	HeldLocks(int refills) {
		this.refills = refills;
	}

	@Override
	public String name() {
		return (this.refills == 0) ? "held-locks" : "held-locks-refilled";
	}

	@Override
	public boolean suits(Library library, Store store) {
		// lock4j starts a thread with each lock that it renews.
		return library.can(store, Ability.RENEWS) && (library != Library.LOCK4J || this.refills == 0);
	}

	@Override
	public boolean renews() {
		return true;
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
		return ((this.refills == 0) ? HOLD : LONGEST_REFILLING).plusSeconds(12);
	}

	@Override
	public Measurement measure(Trial trial) throws InterruptedException {
		run(trial, Step.WARM_UP);
		double halfOfNothing = run(trial, Step.HOLD_NOTHING).value("heap");
		double harness = run(trial, Step.HOLD_NOTHING_ELSE).value("heap") - halfOfNothing;
		run(trial, Step.RELEASE);
		Answer empty = run(trial, Step.LOOK);
		long sizeBefore = trial.size();
		Answer half = run(trial, Step.ACQUIRE);
		Answer held = run(trial, Step.ACQUIRE_OTHERS);
		Measurement measurement = Measurement
			.of(new Figure("heap", (held.value("heap") - half.value("heap") - harness) / HALF, "bytes per lock"))
			.with("threads", held.value("threads") - empty.value("threads"), "count")
			.with((this.refills == 0) ? hold(trial) : List.of(new Figure("refills", half.value("refills"), "count")));
		double kept = (double) trial.size() - sizeBefore;
		run(trial, Step.RELEASE);
		Answer released = run(trial, Step.LOOK);
		return measurement.with("heap-left", (released.value("heap") - empty.value("heap")) / LOCKS, "bytes per lock")
			.with("entries-held", kept, "count")
			.with("entries-left", (double) trial.size() - sizeBefore, "count");
	}

	/** Holds the locks for longer than their lease. */
	private List<Figure> hold(Trial trial) throws InterruptedException {
		Counters before = trial.counters();
		double cpuBefore = run(trial, Step.LOOK_AT_CPU).value("cpu");
		long begin = System.nanoTime();
		Thread.sleep(HOLD.toMillis());
		double nanos = System.nanoTime() - begin;
		double cpu = run(trial, Step.LOOK_AT_CPU).value("cpu") - cpuBefore;
		Counters counted = trial.counters().since(before);
		return Measurement.of(new Figure("cpu", 100 * cpu / nanos, "% of a processor"))
			.with("commands", counted.commands(), nanos / 1e9, "per second")
			.with("writes", counted.writes(), nanos / 1e9, "per second")
			.figures();
	}

	@SuppressWarnings("EnumOrdinal") // to a JVM with the same class
	private Answer run(Trial trial, Step step) {
		return trial.runAlone(Task.of(this).with(STEP, step.ordinal()));
	}

	@Override
	public Answer work(WorkerContext worker, Task task) throws Exception {
		switch (Step.values()[task.count(STEP)]) {
			case WARM_UP -> {
				// Loads classes and opens connections.
				this.holders.acquire(worker.contender()::acquire, 0, 100);
				this.holders.release();
			}
			case HOLD_NOTHING -> this.holders.acquire(HeldLocks::nothing, 0, HALF);
			case HOLD_NOTHING_ELSE -> this.holders.acquire(HeldLocks::nothing, HALF, LOCKS);
			case ACQUIRE -> {
				int refilled = refill(worker);
				this.holders.acquire(worker.contender()::acquire, 0, HALF);
				return Footprint.now().answer().with("refills", refilled);
			}
			case ACQUIRE_OTHERS -> this.holders.acquire(worker.contender()::acquire, HALF, LOCKS);
			case RELEASE -> this.holders.release();
			case LOOK_AT_CPU -> {
				return Answer.empty().with("cpu", Footprint.cpuNanos());
			}
			case LOOK -> {
				// Nothing but the answer.
			}
		}
		return Footprint.now().answer();
	}

	/** Acquires and releases all locks, as often as is asked for or there is time. */
	private int refill(WorkerContext worker) throws Exception {
		long begin = System.nanoTime();
		int refilled = 0;
		while (refilled < this.refills && System.nanoTime() - begin < LONGEST_REFILLING.toNanos()) {
			this.holders.acquire(worker.contender()::acquire, 0, LOCKS);
			this.holders.release();
			refilled++;
		}
		return refilled;
	}

	/** Returns a handle of one reference, as those of the contenders are. */
	private static HeldLock nothing(String key, Duration wait) {
		return () -> Objects.requireNonNull(key);
	}

	private enum Step {

		WARM_UP, HOLD_NOTHING, HOLD_NOTHING_ELSE, ACQUIRE, ACQUIRE_OTHERS, RELEASE, LOOK, LOOK_AT_CPU

	}

}
