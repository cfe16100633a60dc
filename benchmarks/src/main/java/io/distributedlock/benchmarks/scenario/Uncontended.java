package io.distributedlock.benchmarks.scenario;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.HdrHistogram.Histogram;

import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Ability;
import io.distributedlock.benchmarks.contender.Contender;
import io.distributedlock.benchmarks.contender.HeldLock;
import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.server.Counters;

/**
 * Threads that acquire and release free locks, each with a key that is new, as the number
 * of an order is: in a new JVM that is cold, and in the same one when it is warm. What is
 * compiled depends on how often it has run, so that cold means the same locks for each
 * contender, not the same time.
 */
final class Uncontended implements Scenario {

	/**
	 * A free lock need not be acquired at the first try everywhere: a transaction of
	 * Spring Integration may conflict with those of other keys.
	 */
	static final Duration WAIT = Duration.ofSeconds(1);

	private static final int COLD_AFTER = 1500;

	/** Enough for a p99, and for a processor time in steps of 10 ms. */
	private static final int COLD_LOCKS = 3000;

	private static final int WARM_AFTER = 30_000;

	/** A store that waits for the disk would take minutes. */
	private static final Duration LONGEST = Duration.ofSeconds(8);

	private static final String LOCKS = "locks";

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
	public Duration estimate(Duration duration, Store store) {
		int seconds = store.isRedis() ? 6 : 15;
		return duration.plusSeconds((this.threads == 1) ? seconds : seconds / 3);
	}

	@Override
	public Measurement measure(Trial trial) {
		run(trial, COLD_AFTER, LONGEST);
		Answer cold = run(trial, COLD_LOCKS, LONGEST);
		run(trial, WARM_AFTER - COLD_AFTER - COLD_LOCKS, LONGEST);
		Counters before = trial.counters();
		Answer warm = run(trial, Integer.MAX_VALUE, trial.duration());
		Counters counted = trial.counters().since(before);
		return figures(warm, "").with(figures(cold, Measurement.COLD)).withCosts(counted, warm.value("pairs"));
	}

	private Answer run(Trial trial, int locks, Duration longest) {
		return trial.runAlone(Task.of(this).with(LOCKS, locks).with(Task.MILLIS, longest.toMillis()));
	}

	private Measurement figures(Answer answer, String suffix) {
		Histogram latencies = Answer.latencies(List.of(answer));
		// The threads do nothing else, and their start is not measured.
		return Measurement.of(new Figure("throughput" + suffix, this.threads * 1e9 / latencies.getMean(), "locks/s"))
			.with("cpu" + suffix, answer.value("cpu"), "µs per lock")
			.with("lock" + suffix, latencies);
	}

	@Override
	public Answer work(WorkerContext worker, Task task) throws Exception {
		String prefix = task.key() + "-" + Long.toString(System.nanoTime(), Character.MAX_RADIX) + "-";
		return lock(worker.contender(), prefix, this.threads, task.count(LOCKS), task.duration());
	}

	/**
	 * Acquires and releases free locks, until there were enough or the time is over.
	 * @return how many, their latencies, and the processor time of this JVM for each in
	 * microseconds, with that of the compiler and the collector
	 */
	static Answer lock(Contender contender, String prefix, int threads, int locks, Duration longest) throws Exception {
		AtomicInteger left = new AtomicInteger(locks);
		long cpuBefore = Footprint.cpuNanos();
		List<Histogram> histograms = SimultaneousThreads.run(threads, (thread) -> () -> {
			Histogram histogram = Latencies.newHistogram();
			long last = System.nanoTime();
			long end = last + longest.toNanos();
			for (long number = 0; last - end < 0 && left.getAndDecrement() > 0; number++) {
				String key = prefix + thread + "-" + number;
				HeldLock lock = contender.acquire(key, WAIT);
				if (lock == null) {
					throw new IllegalStateException("The free lock '" + key + "' was not acquired");
				}
				lock.release();
				long now = System.nanoTime();
				Latencies.record(histogram, now - last);
				last = now;
			}
			return histogram;
		});
		double cpu = Footprint.cpuNanos() - cpuBefore;
		Histogram all = Latencies.newHistogram();
		histograms.forEach(all::add);
		return Answer.empty().with("pairs", all.getTotalCount()).with("cpu", cpu / 1e3 / all.getTotalCount()).with(all);
	}

}
