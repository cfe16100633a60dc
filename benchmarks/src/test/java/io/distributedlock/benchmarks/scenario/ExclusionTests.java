package io.distributedlock.benchmarks.scenario;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.distributedlock.benchmarks.contender.Contender;
import io.distributedlock.benchmarks.contender.HeldLock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Contenders that do not exclude are caught while they are measured. Two mappings of one
 * file are to each other what those of two JVMs are.
 */
@Tag("full")
class ExclusionTests {

	/**
	 * A machine with one free processor may switch threads at the right moment seldom.
	 */
	private static final Duration PATIENCE = Duration.ofMinutes(1);

	@TempDir
	private Path folder;

	@Test
	void contenderThatLocksIsNotAccused() throws Exception {
		List<Figure> figures = run(new Excluding(0));
		assertThat(figures).extracting(Figure::metric).containsExactly(Figure.LOST_UPDATES, Figure.OVERLAPS);
		assertThat(figures).noneMatch(Figure::isViolation);
	}

	@Test
	void updatesOfAContenderThatLocksNothingAreLost() throws Exception {
		assertThat(runUntilCaught(new Excluding(1), Figure.LOST_UPDATES)).isTrue();
	}

	@Test
	void contenderThatSeldomLetsTwoInIsCaught() throws Exception {
		assertThat(runUntilCaught(new Excluding(50), Figure.OVERLAPS)).isTrue();
	}

	@Test
	void locksThatOthersGetDuringAWaitAreCounted() throws Exception {
		SharedMemory memory = SharedMemory.map(this.folder.resolve("memory"));
		CriticalSection section = new CriticalSection(memory);
		section.reset();
		HotKey scenario = new HotKey(1, 1);
		AtomicInteger waits = new AtomicInteger();
		Contender passedOver = new Excluding(0) {
			@Override
			public @Nullable HeldLock acquire(String key, Duration wait) throws InterruptedException {
				// Others get up to three locks during a wait.
				int others = waits.incrementAndGet() % 4;
				for (int other = 0; other < others; other++) {
					section.leave(section.enter(2));
				}
				return super.acquire(key, wait);
			}
		};
		Task task = Task.of(scenario).with(Task.MILLIS, 200).with(Task.TRIAL, 1).with(Task.PROCESS, 0);
		long start = System.nanoTime();
		Answer answer;
		do {
			answer = scenario.work(passedOver, memory, task);
		}
		while (answer.value("passed-over") < 3 && System.nanoTime() - start < PATIENCE.toNanos());
		assertThat(answer.value("passed-over")).isEqualTo(3);
	}

	@Test
	void readersThatShareALockAreNotAccused() throws Exception {
		List<Figure> figures = runReadMostly(new Sharing(false));
		assertThat(figures).extracting(Figure::metric).containsExactly(Figure.LOST_UPDATES, Figure.OVERLAPS);
		assertThat(figures).noneMatch(Figure::isViolation);
	}

	@Test
	void writerThatIsLetInBesideReadersIsCaught() throws Exception {
		assertThat(runUntilCaught(() -> runReadMostly(new Sharing(true)), Figure.OVERLAPS)).isTrue();
	}

	@Test
	void readerAndWriterFindEachOtherInWhateverOrderTheyEnter() {
		CriticalSection section = new CriticalSection(SharedMemory.map(this.folder.resolve("memory")));
		section.reset();
		section.enterToRead();
		section.enterToRead();
		assertThat(section.figures(0)).noneMatch(Figure::isViolation);
		section.enter(1);
		assertThat(section.figures(0)).contains(new Figure(Figure.OVERLAPS, 1, "count"));
		section.enterToRead();
		assertThat(section.figures(0)).contains(new Figure(Figure.OVERLAPS, 2, "count"));
	}

	private boolean runUntilCaught(Contender contender, String metric) throws Exception {
		return runUntilCaught(() -> run(contender), metric);
	}

	private static boolean runUntilCaught(Callable<List<Figure>> run, String metric) throws Exception {
		long start = System.nanoTime();
		while (System.nanoTime() - start < PATIENCE.toNanos()) {
			if (run.call().stream().anyMatch((figure) -> figure.metric().equals(metric) && figure.isViolation())) {
				return true;
			}
		}
		return false;
	}

	private List<Figure> run(Contender contender) throws Exception {
		HotKey scenario = new HotKey(2, 8);
		return run(scenario, (memory, task) -> scenario.work(contender, memory, task), "all");
	}

	private List<Figure> runReadMostly(Contender contender) throws Exception {
		ReadMostly scenario = new ReadMostly(2, 8);
		return run(scenario, (memory, task) -> scenario.work(contender, memory, task), "writes");
	}

	private List<Figure> run(Scenario scenario, Work work, String executions) throws Exception {
		CriticalSection section = new CriticalSection(SharedMemory.map(this.folder.resolve("memory")));
		Task task = Task.of(scenario).with(Task.MILLIS, 200).with(Task.TRIAL, 1);
		long start = System.nanoTime();
		double locks;
		// A machine may stand still for the whole time.
		do {
			section.reset();
			List<Answer> answers = SimultaneousThreads.run(2, (process) -> () -> work
				.run(SharedMemory.map(this.folder.resolve("memory")), task.with(Task.PROCESS, process)));
			locks = Answer.sum(answers, executions);
		}
		while (locks == 0 && System.nanoTime() - start < PATIENCE.toNanos());
		assertThat(locks).isPositive();
		return section.figures(locks);
	}

	/** The part of a scenario that a JVM of a contender does. */
	private interface Work {

		Answer run(SharedMemory memory, Task task) throws Exception;

	}

	/** A read-write lock, which may let writers in like readers. */
	private static final class Sharing implements Contender {

		private final ReadWriteLock lock = new ReentrantReadWriteLock(true);

		private final boolean writersShare;

		Sharing(boolean writersShare) {
			this.writersShare = writersShare;
		}

		@Override
		public @Nullable HeldLock acquire(String key, Duration wait) {
			throw new UnsupportedOperationException();
		}

		@Override
		public @Nullable HeldLock acquire(String key, boolean writes, Duration wait) throws InterruptedException {
			Lock side = (writes && !this.writersShare) ? this.lock.writeLock() : this.lock.readLock();
			return side.tryLock(wait.toMillis(), TimeUnit.MILLISECONDS) ? side::unlock : null;
		}

		@Override
		public void close() {
		}

	}

	/** Lets every n-th caller in without the lock. */
	private static class Excluding implements Contender {

		private final Lock lock = new ReentrantLock();

		private final AtomicInteger callers = new AtomicInteger();

		private final int everyNth;

		Excluding(int everyNth) {
			this.everyNth = everyNth;
		}

		@Override
		public @Nullable HeldLock acquire(String key, Duration wait) throws InterruptedException {
			if (this.everyNth != 0 && this.callers.incrementAndGet() % this.everyNth == 0) {
				return () -> {
				};
			}
			return this.lock.tryLock(wait.toMillis(), TimeUnit.MILLISECONDS) ? this.lock::unlock : null;
		}

		@Override
		public void close() {
		}

	}

}
