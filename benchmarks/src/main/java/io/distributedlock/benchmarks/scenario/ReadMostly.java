package io.distributedlock.benchmarks.scenario;

import java.time.Duration;
import java.util.List;
import java.util.Random;

import org.HdrHistogram.Histogram;

import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Ability;
import io.distributedlock.benchmarks.contender.Contender;
import io.distributedlock.benchmarks.contender.HeldLock;
import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.server.Counters;

/**
 * Threads of one or several processes that share a lock again and again, and seldom want
 * it alone.
 */
final class ReadMostly implements Scenario {

	private static final Duration WAIT = Duration.ofSeconds(20);

	/** How often a thread reads before it writes once. */
	private static final int READS = 1000;

	private final int processes;

	private final int threads;

	ReadMostly(int processes, int threads) {
		this.processes = processes;
		this.threads = threads;
	}

	@Override
	public String name() {
		return "read-mostly-" + this.processes + "x" + this.threads;
	}

	@Override
	public boolean suits(Library library, Store store) {
		return library.can(store, Ability.SHARES);
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
		double seconds = trial.duration().toMillis() / 1e3;
		double writes = Answer.sum(answers, "writes");
		return Measurement.of(new Figure("throughput", Answer.sum(answers, "in-time") / seconds, "locks/s"))
			.with("writers", writes / seconds, "locks/s")
			.with("writer-wait", Answer.latencies(answers))
			.withCosts(counted, Answer.sum(answers, "all"))
			.with("not-acquired", Answer.sum(answers, "not-acquired"), "count")
			.with(section.figures(writes));
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
		served.forEach((thread) -> all.add(thread.writerWaits()));
		return Answer.empty()
			.with("all", served.stream().mapToLong(Served::acquired).sum())
			.with("in-time", served.stream().mapToLong(Served::inTime).sum())
			.with("writes", served.stream().mapToLong(Served::writes).sum())
			.with("not-acquired", served.stream().mapToLong(Served::notAcquired).sum())
			.with(all);
	}

	private static Served serve(Contender contender, CriticalSection section, String key, long holder, long end)
			throws Exception {
		Histogram writerWaits = Latencies.newHistogram();
		long acquired = 0;
		long inTime = 0;
		long writes = 0;
		long notAcquired = 0;
		// Threads write at different times, the same ones in each run.
		long number = new Random(holder).nextInt(READS);
		for (long start = System.nanoTime(); start - end < 0; start = System.nanoTime()) {
			boolean isWriter = number++ % (READS + 1) == READS;
			HeldLock lock = contender.acquire(key, isWriter, WAIT);
			long answeredAt = System.nanoTime();
			if (isWriter) {
				Latencies.record(writerWaits, answeredAt - start);
			}
			if (lock == null) {
				notAcquired++;
				continue;
			}
			try {
				acquired++;
				if (answeredAt - end < 0) {
					inTime++;
				}
				if (isWriter) {
					writes++;
					section.leave(section.enter(holder));
				}
				else {
					section.enterToRead();
					section.leaveAfterReading();
				}
			}
			finally {
				lock.release();
			}
		}
		return new Served(writerWaits, acquired, inTime, writes, notAcquired);
	}

	/**
	 * What a thread got.
	 *
	 * @param writerWaits how long it waited each time to write, with a lock or without
	 * @param acquired all locks
	 * @param inTime locks that it acquired before the end
	 * @param writes locks that it acquired to write
	 * @param notAcquired waits that ended without a lock
	 */
	private record Served(Histogram writerWaits, long acquired, long inTime, long writes, long notAcquired) {
	}

}
