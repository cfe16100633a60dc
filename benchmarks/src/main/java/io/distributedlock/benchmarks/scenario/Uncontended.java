package io.distributedlock.benchmarks.scenario;

import java.time.Duration;
import java.util.List;

import org.HdrHistogram.Histogram;

import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Ability;
import io.distributedlock.benchmarks.contender.Contender;
import io.distributedlock.benchmarks.contender.HeldLock;
import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.server.Counters;

/**
 * Threads that acquire and release free locks, each with a key that is new, as the number
 * of an order is.
 */
final class Uncontended implements Scenario {

	/**
	 * A free lock need not be acquired at the first try everywhere: a transaction of
	 * Spring Integration may conflict with those of other keys.
	 */
	static final Duration WAIT = Duration.ofSeconds(1);

	private final int threads;

	Uncontended(int threads) {
		this.threads = threads;
	}

	@Override
	public String name() {
		return "uncontended-" + this.threads;
	}

	@Override
	public boolean suits(Library library, Store store) {
		return library.can(store, Ability.ATTEMPTS);
	}

	@Override
	public Measurement measure(Trial trial) {
		Duration warmUp = trial.warmUp(1);
		if (!warmUp.isZero()) {
			trial.run(1, task(warmUp));
		}
		Counters before = trial.counters();
		List<Answer> answers = trial.run(1, task(trial.duration()));
		Counters counted = trial.counters().since(before);
		double pairs = Answer.sum(answers, "pairs");
		return Measurement.of(new Figure("throughput", pairs / Answer.sum(answers, "seconds"), "locks/s"))
			.with("lock", Answer.latencies(answers))
			.withCosts(counted, pairs);
	}

	private Task task(Duration duration) {
		return Task.of(this).with(Task.MILLIS, duration.toMillis());
	}

	@Override
	public Answer work(WorkerContext worker, Task task) throws Exception {
		Contender contender = worker.contender();
		long nanos = task.duration().toNanos();
		String run = task.key() + "-" + Long.toString(System.nanoTime(), Character.MAX_RADIX);
		long begin = System.nanoTime();
		List<Histogram> histograms = SimultaneousThreads.run(this.threads, (thread) -> () -> {
			Histogram histogram = Latencies.newHistogram();
			String prefix = run + "-" + thread + "-";
			long last = System.nanoTime();
			long end = last + nanos;
			for (long number = 0; last - end < 0; number++) {
				HeldLock lock = contender.acquire(prefix + number, WAIT);
				if (lock == null) {
					throw new IllegalStateException("The free lock '" + prefix + number + "' was not acquired");
				}
				lock.release();
				long now = System.nanoTime();
				Latencies.record(histogram, now - last);
				last = now;
			}
			return histogram;
		});
		Histogram all = Latencies.newHistogram();
		histograms.forEach(all::add);
		return Answer.empty()
			.with("pairs", all.getTotalCount())
			.with("seconds", (System.nanoTime() - begin) / 1e9)
			.with(all);
	}

}
