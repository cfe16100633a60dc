package io.distributedlock.benchmarks.scenario;

import java.time.Duration;

import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Ability;
import io.distributedlock.benchmarks.contender.Contender;
import io.distributedlock.benchmarks.contender.Library;

/**
 * A thread that holds a lock and acquires it again.
 */
final class Reentry implements Scenario {

	private static final int BATCH = 100;

	@Override
	public String name() {
		return "reentry";
	}

	@Override
	public boolean suits(Library library, Store store) {
		return library.can(store, Ability.REENTERS);
	}

	@Override
	public int rounds(int asked) {
		return Math.min(asked, 2);
	}

	@Override
	public Measurement measure(Trial trial) {
		Duration warmUp = trial.warmUp(1);
		if (!warmUp.isZero()) {
			run(trial, warmUp);
		}
		return Measurement.of(new Figure("time", run(trial, trial.duration()).value("nanos"), "ns"));
	}

	private Answer run(Trial trial, Duration duration) {
		return trial.run(1, Task.of(this).with(Task.MILLIS, duration.toMillis())).get(0);
	}

	@Override
	public Answer work(WorkerContext worker, Task task) throws Exception {
		Contender contender = worker.contender();
		long nanos = task.duration().toNanos();
		double[] each = new double[1];
		contender.execute(task.key(), () -> {
			long begin = System.nanoTime();
			long now = begin;
			long entered = 0;
			while (now - begin < nanos) {
				for (int i = 0; i < BATCH; i++) {
					contender.execute(task.key(), () -> {
					});
				}
				entered += BATCH;
				now = System.nanoTime();
			}
			each[0] = (double) (now - begin) / entered;
		});
		return Answer.empty().with("nanos", each[0]);
	}

}
