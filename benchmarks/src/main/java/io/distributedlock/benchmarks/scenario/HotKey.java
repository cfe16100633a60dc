package io.distributedlock.benchmarks.scenario;

import java.time.Duration;
import java.util.DoubleSummaryStatistics;
import java.util.List;

import org.HdrHistogram.Histogram;

import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Ability;
import io.distributedlock.benchmarks.contender.Contender;
import io.distributedlock.benchmarks.contender.HeldLock;
import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.server.Counters;

/**
 * Threads of one or several processes that all want the same lock, again and again.
 */
final class HotKey implements Scenario {

	private static final Duration WAIT = Duration.ofSeconds(20);

	private final int processes;

	private final int threads;

	HotKey(int processes, int threads) {
		this.processes = processes;
		this.threads = threads;
	}

	@Override
	public String name() {
		return "hot-key-" + this.processes + "x" + this.threads;
	}

	@Override
	public boolean suits(Library library, Store store) {
		return library.can(store, Ability.WAITS);
	}

	@Override
	public Measurement measure(Trial trial) {
		Duration warmUp = trial.warmUp(this.processes);
		if (!warmUp.isZero()) {
			trial.run(this.processes, task(warmUp));
		}
		CriticalSection section = new CriticalSection(trial.memory());
		section.reset();
		Counters before = trial.counters();
		List<Answer> answers = trial.run(this.processes, task(trial.duration()));
		Counters counted = trial.counters().since(before);
		double all = Answer.sum(answers, "all");
		double inTime = Answer.sum(answers, "in-time");
		double seconds = trial.duration().toMillis() / 1e3;
		double fewest = answers.stream().mapToDouble((answer) -> answer.value("fewest")).min().orElseThrow();
		double most = answers.stream().mapToDouble((answer) -> answer.value("most")).max().orElseThrow();
		DoubleSummaryStatistics processes = answers.stream()
			.mapToDouble((answer) -> answer.value("in-time"))
			.summaryStatistics();
		return Measurement.of(new Figure("throughput", inTime / seconds, "locks/s"))
			.with("hand-overs", inTime / seconds * section.handOvers() / Math.max(1, all), "hand-overs/s")
			.with("wait", Answer.latencies(answers))
			.withCosts(counted, all)
			.with("thread-unfairness", most / Math.max(1, fewest), "max/min")
			.with("fewest-of-a-process", processes.getMin() / seconds, "locks/s")
			.with("most-of-a-process", processes.getMax() / seconds, "locks/s")
			.with("largest-share", 100 * processes.getMax() / Math.max(1, inTime), "%")
			.with("passed-over",
					answers.stream().mapToDouble((answer) -> answer.value("passed-over")).max().orElseThrow(),
					"locks of others")
			.with("not-acquired", Answer.sum(answers, "not-acquired"), "count")
			.with(section.figures(all));
	}

	private Task task(Duration duration) {
		return Task.of(this).with(Task.MILLIS, duration.toMillis());
	}

	@Override
	public Duration estimate(Duration duration, Store store) {
		// All JVMs start at once, and the waiters of the end are still served.
		return duration.plusSeconds(this.processes);
	}

	@Override
	public Answer work(WorkerContext worker, Task task) throws Exception {
		return work(worker.contender(), worker.memory(), task);
	}

	Answer work(Contender contender, SharedMemory memory, Task task) throws Exception {
		long nanos = task.duration().toNanos();
		CriticalSection section = new CriticalSection(memory);
		List<Served> served = SimultaneousThreads.run(this.threads, (thread) -> () -> {
			long holder = task.number(Task.PROCESS) * this.threads + thread + 1;
			return serve(contender, section, task.key(), holder, System.nanoTime() + nanos);
		});
		Histogram all = Latencies.newHistogram();
		served.forEach((thread) -> all.add(thread.waits()));
		return Answer.empty()
			.with("all", served.stream().mapToLong(Served::acquired).sum())
			.with("in-time", served.stream().mapToLong(Served::inTime).sum())
			.with("fewest", served.stream().mapToLong(Served::inTime).min().orElse(0))
			.with("most", served.stream().mapToLong(Served::inTime).max().orElse(0))
			.with("passed-over", served.stream().mapToLong(Served::passedOver).max().orElse(0))
			.with("not-acquired", served.stream().mapToLong(Served::notAcquired).sum())
			.with(all);
	}

	private static Served serve(Contender contender, CriticalSection section, String key, long holder, long end)
			throws Exception {
		Histogram waits = Latencies.newHistogram();
		long acquired = 0;
		long inTime = 0;
		long notAcquired = 0;
		long passedOver = 0;
		for (long start = System.nanoTime(); start - end < 0; start = System.nanoTime()) {
			long before = section.executions();
			HeldLock lock = contender.acquire(key, WAIT);
			if (lock == null) {
				notAcquired++;
				passedOver = Math.max(passedOver, section.executions() - before);
				Latencies.record(waits, System.nanoTime() - start);
				continue;
			}
			try {
				long acquiredAt = System.nanoTime();
				acquired++;
				long counter = section.enter(holder);
				Latencies.record(waits, acquiredAt - start);
				passedOver = Math.max(passedOver, counter - before);
				if (acquiredAt - end < 0) {
					inTime++;
				}
				section.leave(counter);
			}
			finally {
				lock.release();
			}
		}
		return new Served(waits, acquired, inTime, notAcquired, passedOver);
	}

	/**
	 * What a thread got.
	 *
	 * @param waits how long it waited each time, with a lock or without
	 * @param acquired all locks
	 * @param inTime locks that it acquired before the end
	 * @param notAcquired waits that ended without a lock
	 * @param passedOver how many locks others got during the one wait in which they got
	 * most
	 */
	private record Served(Histogram waits, long acquired, long inTime, long notAcquired, long passedOver) {
	}

}
