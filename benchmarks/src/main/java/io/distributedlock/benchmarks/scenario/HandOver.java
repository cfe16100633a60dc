package io.distributedlock.benchmarks.scenario;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

import org.HdrHistogram.Histogram;

import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Ability;
import io.distributedlock.benchmarks.contender.Contender;
import io.distributedlock.benchmarks.contender.HeldLock;
import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.scenario.SharedMemory.Slot;
import io.distributedlock.benchmarks.server.Counters;

/**
 * Two processes that take turns: from the call of release in one to the lock in the
 * other. The other one has waited for 5 to 105 ms then, each time another, so that a
 * contender that asks every 100 ms is met at every moment between two questions. The
 * clocks of both are one: on Linux and macOS {@link System#nanoTime()} counts from the
 * start of the machine.
 */
final class HandOver implements Scenario {

	private static final long SHORTEST_WAIT_NANOS = Duration.ofMillis(5).toNanos();

	private static final long WAIT_RANGE_NANOS = Duration.ofMillis(100).toNanos();

	/** There are only some 15 hand-overs in a second. */
	private static final int LONGER = 5;

	private static final long PAUSE_NANOS = Duration.ofNanos(300_000).toNanos();

	@Override
	public String name() {
		return "hand-over";
	}

	@Override
	public boolean suits(Library library, Store store) {
		return library.can(store, Ability.WAITS);
	}

	@Override
	public Duration estimate(Duration duration, Store store) {
		return Scenario.super.estimate(duration.multipliedBy(LONGER), store);
	}

	@Override
	public Measurement measure(Trial trial) {
		CriticalSection section = new CriticalSection(trial.memory());
		Duration warmUp = trial.warmUp(2);
		if (!warmUp.isZero()) {
			section.reset();
			trial.run(2, task(warmUp));
		}
		section.reset();
		Counters before = trial.counters();
		List<Answer> answers = trial.run(2, task(trial.duration().multipliedBy(LONGER)));
		Counters counted = trial.counters().since(before);
		double locks = Answer.sum(answers, "locks");
		Histogram latencies = Answer.latencies(answers);
		return Measurement.of(new Figure("measured", latencies.getTotalCount(), "count"))
			.with("hand-over", latencies)
			.withCosts(counted, locks)
			.with(section.figures(locks));
	}

	private Task task(Duration duration) {
		return Task.of(this).with(Task.MILLIS, duration.toMillis());
	}

	@Override
	public Answer work(WorkerContext worker, Task task) throws Exception {
		Contender contender = worker.contender();
		SharedMemory memory = worker.memory();
		CriticalSection section = new CriticalSection(memory);
		long me = task.number(Task.PROCESS) + 1;
		Slot mine = (me == 1) ? Slot.FIRST_WAITS_SINCE : Slot.SECOND_WAITS_SINCE;
		Slot others = (me == 1) ? Slot.SECOND_WAITS_SINCE : Slot.FIRST_WAITS_SINCE;
		Random waits = new Random(me);
		Histogram latencies = Latencies.newHistogram();
		long end = System.nanoTime() + task.duration().toNanos();
		long locks = 0;
		while (System.nanoTime() - end < 0) {
			long began = System.nanoTime();
			memory.set(mine, began);
			HeldLock lock = contender.acquire(task.key(), Duration.ofSeconds(20));
			long acquired = System.nanoTime();
			if (lock == null) {
				throw new IllegalStateException("The lock was not acquired within 20 s");
			}
			memory.set(mine, 0);
			long released = memory.get(Slot.RELEASED_AT);
			long before = memory.get(Slot.LAST_HOLDER);
			long counter = section.enter(me);
			locks++;
			if (before != 0 && before != me) {
				if (released == 0 || acquired - released < 0) {
					section.violated();
				}
				else if (began - released < 0) {
					Latencies.record(latencies, acquired - released);
				}
			}
			memory.set(Slot.RELEASED_AT, 0);
			long wait = SHORTEST_WAIT_NANOS + (long) (waits.nextDouble() * WAIT_RANGE_NANOS);
			while (System.nanoTime() - end < 0 && !hasWaited(memory.get(others), wait)) {
				LockSupport.parkNanos(PAUSE_NANOS);
			}
			section.leave(counter);
			memory.set(Slot.RELEASED_AT, System.nanoTime());
			lock.release();
			while (System.nanoTime() - end < 0 && memory.get(Slot.LAST_HOLDER) == me) {
				LockSupport.parkNanos(PAUSE_NANOS);
			}
		}
		return Answer.empty().with("locks", locks).with(latencies);
	}

	private static boolean hasWaited(long since, long nanos) {
		return since != 0 && System.nanoTime() - since > nanos;
	}

}
