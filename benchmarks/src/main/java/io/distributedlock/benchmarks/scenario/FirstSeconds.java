package io.distributedlock.benchmarks.scenario;

import java.time.Duration;
import java.util.List;

import org.HdrHistogram.Histogram;

import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Ability;
import io.distributedlock.benchmarks.contender.Contender;
import io.distributedlock.benchmarks.contender.LeaseMode;
import io.distributedlock.benchmarks.contender.Library;

/**
 * The first free locks of an application that has just started, by one thread of a new
 * JVM. The first one opens the connections that the library has not opened before.
 */
final class FirstSeconds implements Scenario {

	private static final int LOCKS = 2000;

	@Override
	public String name() {
		return "first-seconds";
	}

	@Override
	public boolean suits(Library library, Store store) {
		return library.can(store, Ability.ATTEMPTS);
	}

	@Override
	public Duration estimate(Duration duration, Store store) {
		return Duration.ofSeconds(2);
	}

	@Override
	public Measurement measure(Trial trial) {
		Answer answer = trial.runAlone(Task.of(this));
		Histogram latencies = Answer.latencies(List.of(answer));
		return Measurement.of(new Figure("time", LOCKS * latencies.getMean() / 1e6, "ms"))
			.with("cpu", answer.value("cpu"), "µs per lock")
			.with("lock", latencies);
	}

	@Override
	public Answer work(WorkerContext worker, Task task) throws Exception {
		// The contender of the worker has acquired a lock already.
		try (Contender contender = worker.library().open(worker.server(), LeaseMode.FIXED)) {
			return Uncontended.lock(contender, task.key() + "-", 1, LOCKS, Duration.ofHours(1));
		}
	}

}
