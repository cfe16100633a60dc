package io.distributedlock.benchmarks.scenario;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicIntegerArray;

import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Ability;
import io.distributedlock.benchmarks.contender.Contender;
import io.distributedlock.benchmarks.contender.HeldLock;
import io.distributedlock.benchmarks.contender.Library;

/**
 * Ten thousand virtual threads that want a hundred keys, each once. Needs Java 21.
 */
final class VirtualThreads implements Scenario {

	private static final int THREADS = 10_000;

	private static final int KEYS = 100;

	private static final Duration WAIT = Duration.ofSeconds(60);

	@Override
	public String name() {
		return "virtual-threads";
	}

	@Override
	public boolean suits(Library library, Store store) {
		return library.can(store, Ability.WAITS) && !library.isRaw() && Runtime.version().feature() >= 21;
	}

	@Override
	public Duration estimate(Duration duration, Store store) {
		return Duration.ofSeconds(10);
	}

	@Override
	public int rounds(int asked) {
		return Math.min(asked, 2);
	}

	@Override
	public Measurement measure(Trial trial) {
		Task task = Task.of(this);
		if (!trial.warmUp(1).isZero()) {
			trial.run(1, task);
		}
		Answer answer = trial.run(1, task).get(0);
		return Measurement.of(new Figure("time", answer.value("millis"), "ms"))
			.with("not-acquired", answer.value("not-acquired"), "count")
			.with(Figure.LOST_UPDATES, answer.value("lost"), "count");
	}

	@Override
	public Answer work(WorkerContext worker, Task task) throws Exception {
		Contender contender = worker.contender();
		AtomicIntegerArray counters = new AtomicIntegerArray(KEYS);
		int updates = 0;
		long begin = System.nanoTime();
		ExecutorService executor = executor();
		try {
			List<Future<Boolean>> futures = new ArrayList<>();
			for (int thread = 0; thread < THREADS; thread++) {
				int key = thread % KEYS;
				futures
					.add(executor.submit(() -> update(contender, task.key() + "-" + begin + "-" + key, counters, key)));
			}
			for (Future<Boolean> future : futures) {
				updates += future.get() ? 1 : 0;
			}
		}
		finally {
			executor.shutdownNow();
		}
		int counted = 0;
		for (int key = 0; key < KEYS; key++) {
			counted += counters.get(key);
		}
		return Answer.empty()
			.with("millis", (System.nanoTime() - begin) / 1e6)
			.with("not-acquired", (double) THREADS - updates)
			.with("lost", (double) updates - counted);
	}

	@SuppressWarnings("ThreadPriorityCheck") // provokes lost updates
	private static boolean update(Contender contender, String name, AtomicIntegerArray counters, int key)
			throws Exception {
		HeldLock lock = contender.acquire(name, WAIT);
		if (lock == null) {
			return false;
		}
		try {
			int value = counters.get(key);
			Thread.yield();
			counters.set(key, value + 1);
		}
		finally {
			lock.release();
		}
		return true;
	}

	/**
	 * Creates an executor by a method that Java 17, for which this is compiled, lacks.
	 */
	private static ExecutorService executor() throws ReflectiveOperationException {
		Method method = Executors.class.getMethod("newVirtualThreadPerTaskExecutor");
		return (ExecutorService) method.invoke(null);
	}

}
