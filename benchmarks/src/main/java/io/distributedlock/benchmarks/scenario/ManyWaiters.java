package io.distributedlock.benchmarks.scenario;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Ability;
import io.distributedlock.benchmarks.contender.Contender;
import io.distributedlock.benchmarks.contender.HeldLock;
import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.server.Counters;

/**
 * Fifty processes with one thread each that want the same lock and hold it for 5 ms, and
 * what a hand-over costs the server. The processes are clients of their own in one JVM,
 * because fifty JVMs would measure the machine.
 */
final class ManyWaiters implements Scenario {

	private static final int PROCESSES = 50;

	private static final Duration HOLD = Duration.ofMillis(5);

	private static final Duration WAIT = Duration.ofSeconds(20);

	private final List<Contender> contenders = new ArrayList<>();

	@Override
	public String name() {
		return "waiting-50";
	}

	@Override
	public boolean suits(Library library, Store store) {
		return library.can(store, Ability.WAITS);
	}

	@Override
	public int rounds(int asked) {
		return Math.min(asked, 2);
	}

	@Override
	public Duration estimate(Duration duration, Store store) {
		return duration.plusSeconds(12);
	}

	@Override
	public Measurement measure(Trial trial) {
		trial.runAlone(task(Duration.ofSeconds(1)));
		CriticalSection section = new CriticalSection(trial.memory());
		section.reset();
		Counters before = trial.counters();
		Answer answer = trial.runAlone(task(trial.duration()));
		Counters counted = trial.counters().since(before);
		double locks = answer.value("locks");
		double handOvers = section.handOvers();
		return Measurement.of(new Figure("throughput", handOvers / answer.value("seconds"), "hand-overs/s"))
			.with("commands", counted.commands(), handOvers, "per hand-over")
			.with("writes", counted.writes(), handOvers, "per hand-over")
			.with("not-acquired", answer.value("not-acquired"), "count")
			.with(section.figures(locks));
	}

	private Task task(Duration duration) {
		return Task.of(this).with(Task.MILLIS, duration.toMillis());
	}

	@Override
	public Answer work(WorkerContext worker, Task task) throws Exception {
		while (this.contenders.size() < PROCESSES) {
			this.contenders.add(worker.openAnother());
		}
		CriticalSection section = new CriticalSection(worker.memory());
		long nanos = task.duration().toNanos();
		AtomicInteger notAcquired = new AtomicInteger();
		long begin = System.nanoTime();
		List<Long> locks = SimultaneousThreads.run(PROCESSES, (number) -> () -> {
			long acquired = 0;
			while (System.nanoTime() - begin < nanos) {
				HeldLock lock = this.contenders.get(number).acquire(task.key(), WAIT);
				if (lock == null) {
					notAcquired.incrementAndGet();
					continue;
				}
				try {
					long counter = section.enter(number + 1L);
					acquired++;
					LockSupport.parkNanos(HOLD.toNanos());
					section.leave(counter);
				}
				finally {
					lock.release();
				}
			}
			return acquired;
		});
		return Answer.empty()
			.with("locks", locks.stream().mapToLong(Long::longValue).sum())
			.with("not-acquired", notAcquired.get())
			.with("seconds", (System.nanoTime() - begin) / 1e9);
	}

}
