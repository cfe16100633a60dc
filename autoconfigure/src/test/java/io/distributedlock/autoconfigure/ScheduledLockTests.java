package io.distributedlock.autoconfigure;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockLostException;
import io.distributedlock.LockMode;
import io.distributedlock.LockProviderException;
import io.distributedlock.OnBusy;
import io.distributedlock.OnLost;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.annotation.ScheduledLock;
import io.distributedlock.autoconfigure.jdbc.JdbcLockAutoConfiguration;
import io.distributedlock.autoconfigure.redis.RedisLockAutoConfiguration;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.redis.TestRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Scheduled jobs on two nodes, each an application context, over one store. */
@ExtendWith(OutputCaptureExtension.class)
class ScheduledLockTests {

	private static final Duration BEAT = Duration.ofMillis(300);

	private static final Duration MIN_HOLD = Duration.ofMillis(220);

	/** How much faster the store's clock may run than that of a node. */
	private static final Duration DRIFT = Duration.ofMillis(5);

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private final Starts starts = new Starts();

	static Stream<ApplicationContextRunner> stores() {
		return Stream.of(database(TestDatabases.withTable(TestDatabases.h2())),
				database(TestDatabases.withTable(TestDatabases.postgres())), redis());
	}

	private static ApplicationContextRunner node() {
		return new ApplicationContextRunner().withPropertyValues("spring.application.name=shop-" + UUID.randomUUID(),
				"distributed-lock.call-timeout=10s", "distributed-lock.shutdown.grace-period=0ms",
				"job.min-hold=" + MIN_HOLD.toMillis() + "ms", "job.lease=30s");
	}

	private static ApplicationContextRunner database(DataSource dataSource) {
		return node()
			.withConfiguration(
					AutoConfigurations.of(JdbcLockAutoConfiguration.class, DistributedLockAutoConfiguration.class))
			.withBean(DataSource.class, () -> dataSource);
	}

	private static ApplicationContextRunner redis() {
		return node()
			.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, RedisLockAutoConfiguration.class,
					DistributedLockAutoConfiguration.class))
			.withPropertyValues("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + TestRedis.port());
	}

	private ApplicationContextRunner local() {
		return node().withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.provider=local")
			.withBean(Starts.class, () -> this.starts);
	}

	/** Runs two nodes of the application beside each other. */
	private void runTwo(ApplicationContextRunner node, TwoNodes test) {
		ApplicationContextRunner own = node.withBean(Starts.class, () -> this.starts).withBean(Job.class);
		own.run((one) -> own.run((other) -> {
			assertThat(one).hasNotFailed();
			assertThat(other).hasNotFailed();
			test.run(one, other);
		}));
	}

	/** A node's scheduler, whose wall clock is off by a duration. */
	private static ThreadPoolTaskScheduler scheduler(Duration clockError) {
		ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
		scheduler.setClock(Clock.offset(Clock.systemUTC(), clockError));
		scheduler.setDaemon(true);
		scheduler.initialize();
		return scheduler;
	}

	/** Starts a job whenever the node's clock reaches a multiple of the beat. */
	private static AtomicInteger schedule(ThreadPoolTaskScheduler scheduler, Job job) {
		AtomicInteger beats = new AtomicInteger();
		Trigger trigger = (context) -> {
			long now = context.getClock().millis();
			return Instant.ofEpochMilli((now / BEAT.toMillis() + 1) * BEAT.toMillis());
		};
		scheduler.schedule(() -> {
			job.run();
			beats.incrementAndGet();
		}, trigger);
		return beats;
	}

	@ParameterizedTest
	@Tag("full")
	@MethodSource("stores")
	void jobStartsOnceWithinItsShortestHoldWhateverTheNodesClocksSay(ApplicationContextRunner node) {
		runTwo(node, (one, other) -> runJobsUntil(one, other,
				(beats) -> beats.get(0).get() >= 6 && beats.get(1).get() >= 6 && this.starts.count() >= 3));
		assertThat(this.starts.shortestPause()).isGreaterThanOrEqualTo(MIN_HOLD.minus(DRIFT));
	}

	@Test
	void jobWithoutAShortestHoldStartsOnBothNodes() {
		ApplicationContextRunner node = database(TestDatabases.withTable(TestDatabases.h2()))
			.withPropertyValues("job.min-hold=0");
		runTwo(node, (one, other) -> runJobsUntil(one, other,
				(beats) -> this.starts.count() > 1 && this.starts.shortestPause().compareTo(MIN_HOLD) < 0));
	}

	/** One clock is off by an hour, and by half a beat. */
	private void runJobsUntil(AssertableApplicationContext one, AssertableApplicationContext other,
			Predicate<List<AtomicInteger>> end) {
		ThreadPoolTaskScheduler right = scheduler(Duration.ZERO);
		ThreadPoolTaskScheduler wrong = scheduler(Duration.ofHours(1).plus(BEAT.dividedBy(2)));
		try {
			List<AtomicInteger> beats = List.of(schedule(right, one.getBean(Job.class)),
					schedule(wrong, other.getBean(Job.class)));
			await().atMost(PATIENCE).until(() -> end.test(beats));
		}
		finally {
			right.shutdown();
			wrong.shutdown();
		}
	}

	@ParameterizedTest
	@Tag("full")
	@MethodSource("stores")
	void jobOfADeadNodeStartsElsewhereAfterItsShortestHold(ApplicationContextRunner node) {
		CountDownLatch end = new CountDownLatch(1);
		this.starts.onStart = () -> awaitQuietly(end);
		runTwo(node.withPropertyValues("job.lease=500ms", "job.min-hold=2s"), (one, other) -> {
			Job first = one.getBean(Job.class);
			Thread body = new Thread(() -> {
				while (this.starts.count() == 0) {
					runUnlessTooSlow(first::runQuietly);
				}
			});
			body.start();
			await().atMost(PATIENCE).until(() -> this.starts.count() == 1);
			// As a process that was killed: nothing is released, nothing renewed.
			one.getSourceApplicationContext().close();
			this.starts.onStart = () -> {
			};
			Job job = other.getBean(Job.class);
			await().atMost(PATIENCE).until(() -> {
				runUnlessTooSlow(job::run);
				return this.starts.count() > 1;
			});
			end.countDown();
			body.join(PATIENCE.toMillis());
		});
		assertThat(this.starts.shortestPause()).isGreaterThanOrEqualTo(Duration.ofSeconds(2).minus(DRIFT));
	}

	/** A machine that pauses for longer than the short lease is told so. */
	private static void runUnlessTooSlow(Runnable job) {
		try {
			job.run();
		}
		catch (LockProviderException | LockLostException ex) {
			assertThat(ex.error()).isIn(LockError.STORE_TIMEOUT, LockError.LOST, LockError.LOST_WHILE_ACQUIRING);
		}
	}

	private static void awaitQuietly(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Test
	void scheduledJobThatWaitsIsWarnedOf(CapturedOutput output) {
		assertWarned(local().withBean(Waiting.class), output, Waiting.class, "Use @ScheduledLock");
		assertWarned(local().withBean(WaitingTwice.class), output, WaitingTwice.class, "Use @ScheduledLock");
	}

	@Test
	void jobWithoutAShortestHoldIsWarnedOf(CapturedOutput output) {
		assertWarned(local().withBean(Brief.class), output, Brief.class, "Set minHold");
	}

	private static void assertWarned(ApplicationContextRunner node, CapturedOutput output, Class<?> job, String fix) {
		node.run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output.getOut().lines().filter((line) -> line.contains(job.getName() + "."))).singleElement()
				.asString()
				.contains("WARN", "DL-619", job.getName() + ".run", fix);
		});
	}

	@Test
	void jobThatSaysWhatItWantsIsNotWarnedOf(CapturedOutput output) {
		local().withBean(Explicit.class).withBean(Job.class).run(started());
		assertThat(output).doesNotContain("DL-619");
	}

	/** It skips only a job that takes longer than the default wait time. */
	@Test
	void jobThatIsSkippedAfterTheDefaultWaitTimeIsWarnedOf(CapturedOutput output) {
		local().withBean(Skipped.class).run(started());
		assertThat(output).containsOnlyOnce("DL-619: The locked method " + Skipped.class.getName()
				+ ".run is scheduled and waits for its lock with the default wait time, so that every node may run it,"
				+ " one after the other. Use @ScheduledLock in place of @DistributedLock to run it once, or set waitTime"
				+ " if every node has to run it");
	}

	private static ContextConsumer<AssertableApplicationContext> started() {
		return (context) -> assertThat(context).hasNotFailed();
	}

	/** The grants of a job, in microseconds of the store's clock. */
	static final class Starts {

		private final List<Long> micros = new CopyOnWriteArrayList<>();

		private volatile Runnable onStart = () -> {
		};

		void record() {
			Runnable work = this.onStart;
			this.micros.add(LockContext.current().fencingToken().order());
			work.run();
		}

		int count() {
			return this.micros.size();
		}

		Duration shortestPause() {
			List<Long> sorted = this.micros.stream().sorted().toList();
			return Duration.of(IntStream.range(1, sorted.size())
				.mapToLong((next) -> sorted.get(next) - sorted.get(next - 1))
				.min()
				.orElseThrow(), ChronoUnit.MICROS);
		}

	}

	static class Job {

		private final Starts starts;

		Job(Starts starts) {
			this.starts = starts;
		}

		@ScheduledLock(name = "job", minHold = "${job.min-hold}", lease = "${job.lease}")
		void run() {
			this.starts.record();
		}

		@DistributedLock(name = "job", waitTime = "0", onBusy = OnBusy.SKIP, minHold = "${job.min-hold}",
				lease = "${job.lease}", onLost = OnLost.IGNORE)
		void runQuietly() {
			this.starts.record();
		}

	}

	static class Waiting {

		@Scheduled(cron = "0 0 3 * * *")
		@DistributedLock
		void run() {
		}

	}

	static class WaitingTwice {

		@Scheduled(cron = "0 0 3 * * *")
		@Scheduled(cron = "0 0 4 * * *")
		@DistributedLock
		void run() {
		}

	}

	static class Brief {

		@Scheduled(cron = "0 0 3 * * *")
		@ScheduledLock
		void run() {
		}

	}

	static class Skipped {

		@Scheduled(cron = "0 0 3 * * *")
		@DistributedLock(onBusy = OnBusy.SKIP)
		void run() {
		}

	}

	static class Explicit {

		@Scheduled(cron = "0 0 3 * * *")
		@DistributedLock(waitTime = "1s")
		void onEveryNode() {
		}

		@Scheduled(cron = "0 0 3 * * *")
		@DistributedLock(mode = LockMode.SHARED)
		void besideOthers() {
		}

		@Scheduled(cron = "0 0 3 * * *")
		@ScheduledLock(minHold = "1m")
		void once() {
		}

		@DistributedLock
		void notScheduled() {
		}

	}

	interface TwoNodes {

		void run(AssertableApplicationContext one, AssertableApplicationContext other) throws Exception;

	}

}
