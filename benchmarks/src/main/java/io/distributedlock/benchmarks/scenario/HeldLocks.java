package io.distributedlock.benchmarks.scenario;

import java.time.Duration;

import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Ability;
import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.server.Counters;

/**
 * One process that holds 10,000 locks for longer than their lease, also after it has
 * acquired and released them all a number of times. The memory of the harness itself is
 * measured with handles that lock nothing, and subtracted.
 */
final class HeldLocks implements Scenario {

	private static final int LOCKS = 10_000;

	private static final Duration HOLD = Duration.ofSeconds(40);

	private static final String STEP = "step";

	private final int refills;

	private final LockHolders holders = new LockHolders();

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
	public Duration estimate(Duration duration) {
		return HOLD.plusSeconds(15 + 4L * this.refills);
	}

	@Override
	public Measurement measure(Trial trial) throws InterruptedException {
		run(trial, Step.WARM_UP);
		Answer without = run(trial, Step.HOLD_NOTHING);
		run(trial, Step.RELEASE);
		Answer empty = run(trial, Step.LOOK);
		double harness = without.value("heap") - empty.value("heap");
		long sizeBefore = trial.size();
		run(trial, Step.ACQUIRE);
		Answer held = run(trial, Step.LOOK);
		Counters before = trial.counters();
		double cpuBefore = run(trial, Step.LOOK_AT_CPU).value("cpu");
		long begin = System.nanoTime();
		Thread.sleep(HOLD.toMillis());
		double nanos = System.nanoTime() - begin;
		double cpu = run(trial, Step.LOOK_AT_CPU).value("cpu") - cpuBefore;
		Counters counted = trial.counters().since(before);
		double kept = (double) trial.size() - sizeBefore;
		run(trial, Step.RELEASE);
		Answer released = run(trial, Step.LOOK);
		return Measurement
			.of(new Figure("heap", (held.value("heap") - empty.value("heap") - harness) / LOCKS, "bytes per lock"))
			.with("threads", held.value("threads") - empty.value("threads"), "count")
			.with("cpu", 100 * cpu / nanos, "% of a processor")
			.with("commands", counted.commands(), nanos / 1e9, "per second")
			.with("writes", counted.writes(), nanos / 1e9, "per second")
			.with("heap-left", (released.value("heap") - empty.value("heap")) / LOCKS, "bytes per lock")
			.with("entries-held", kept, "count")
			.with("entries-left", (double) trial.size() - sizeBefore, "count");
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
				this.holders.acquire(worker.contender(), 100);
				this.holders.release();
			}
			case HOLD_NOTHING -> this.holders.acquire((key, wait) -> () -> {
			}, LOCKS);
			case ACQUIRE -> {
				for (int i = 0; i < this.refills; i++) {
					this.holders.acquire(worker.contender(), LOCKS);
					this.holders.release();
				}
				this.holders.acquire(worker.contender(), LOCKS);
			}
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

	private enum Step {

		WARM_UP, HOLD_NOTHING, ACQUIRE, RELEASE, LOOK, LOOK_AT_CPU

	}

}
