package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.ds.PGSimpleDataSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockListener;
import io.distributedlock.LockLostException;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.jdbc.TestDatabases;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Two applications that change a row under a lock, in transactions of PostgreSQL at its
 * isolation READ COMMITTED: each reads the value and then writes it, so that a reader
 * that comes before the commit of another one loses its update.
 */
@Tag("full")
class LockedTransactionsTests {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private static final LockKey KEY = LockKey.of("counter", "1");

	private final PGSimpleDataSource database = TestDatabases.postgres();

	private final JdbcTemplate jdbc = new JdbcTemplate(this.database);

	private final List<ConfigurableApplicationContext> contexts = new ArrayList<>();

	LockedTransactionsTests() {
		TestDatabases.withTable(this.database);
		this.jdbc.execute("CREATE TABLE counter (id INT PRIMARY KEY, amount INT NOT NULL)");
		this.jdbc.update("INSERT INTO counter VALUES (1, 0)");
	}

	@AfterEach
	void stop() {
		this.contexts.forEach(ConfigurableApplicationContext::close);
	}

	@ParameterizedTest
	@EnumSource
	void noUpdateIsLostWhereTheMethodHasBothAnnotations(Manager manager) {
		List<Counter> counters = counters(start(manager), start(manager));
		runInParallel((run) -> counters.get(run % 2).incrementInTransaction(1));
		assertThat(amount()).isEqualTo(200);
	}

	@ParameterizedTest
	@EnumSource
	void noUpdateIsLostInsideAnOuterTransaction(Manager manager) {
		ConfigurableApplicationContext one = start(manager);
		ConfigurableApplicationContext other = start(manager);
		List<Counter> counters = counters(one, other);
		List<TransactionTemplate> transactions = List.of(transaction(one), transaction(other));
		runInParallel((run) -> transactions.get(run % 2)
			.executeWithoutResult((status) -> counters.get(run % 2).increment(1)));
		assertThat(amount()).isEqualTo(200);
	}

	@ParameterizedTest
	@EnumSource
	void nextHolderReadsAfterTheOuterCommit(Manager manager) {
		ConfigurableApplicationContext one = start(manager);
		ConfigurableApplicationContext other = start(manager);
		List<CompletableFuture<Void>> next = new ArrayList<>();
		transaction(one).executeWithoutResult((status) -> {
			one.getBean(Counter.class).increment(1);
			next.add(CompletableFuture.runAsync(() -> transaction(other)
				.executeWithoutResult((inner) -> other.getBean(Counter.class).increment(1))));
			await().atMost(PATIENCE).until(() -> !other.getBean(LockTemplate.class).snapshot().waiting().isEmpty());
			assertThat(tryAcquire(other)).isNull();
			assertThat(next.get(0)).isNotDone();
			assertThat(other.getBean(Counter.class).reads()).isZero();
		});
		assertThat(next.get(0)).succeedsWithin(PATIENCE);
		assertThat(amount()).isEqualTo(2);
		assertThat(tryAcquire(other)).isNotNull().satisfies(LockLease::close);
	}

	@Test
	void updateIsLostIfLocksEndWithTheirMethods() {
		ConfigurableApplicationContext one = start(Manager.JDBC, "distributed-lock.transaction.release=at-method-end");
		ConfigurableApplicationContext other = start(Manager.JDBC);
		CountDownLatch read = new CountDownLatch(1);
		other.getBean(Counter.class).afterRead(read::countDown);
		List<CompletableFuture<Void>> next = new ArrayList<>();
		transaction(one).executeWithoutResult((status) -> {
			one.getBean(Counter.class).increment(1);
			next.add(CompletableFuture.runAsync(() -> other.getBean(Counter.class).increment(1)));
			assertThat(isCountedDown(read)).isTrue();
		});
		assertThat(next.get(0)).succeedsWithin(PATIENCE);
		assertThat(amount()).isOne();
	}

	@ParameterizedTest
	@EnumSource
	void forcedReleaseLeavesTheDataUnchanged(Manager manager) {
		ConfigurableApplicationContext one = start(manager);
		ConfigurableApplicationContext other = start(manager);
		List<LockLease> successor = new ArrayList<>();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> transaction(one).executeWithoutResult((status) -> {
				one.getBean(Counter.class).increment(1);
				assertThat(one.getBean(LockTemplate.class).forceRelease(KEY)).isTrue();
				successor.add(other.getBean(LockOperations.class).acquire(request()));
			}))
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LossReason.FORCED));
		assertThat(amount()).isZero();
		assertThat(tryAcquire(one)).isNull();
		successor.get(0).ensureHeld();
		successor.get(0).close();
		assertToldOnce(one);
	}

	@ParameterizedTest
	@EnumSource
	void leaseThatEndsInTheStoreLeavesTheDataUnchanged(Manager manager) {
		ConfigurableApplicationContext one = start(manager, "distributed-lock.lease=2s");
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> transaction(one).executeWithoutResult((status) -> {
				one.getBean(Counter.class).increment(1);
				assertThat(this.jdbc.update("DELETE FROM distributed_lock WHERE owner NOT LIKE 'free%'")).isOne();
				LockTemplate locks = one.getBean(LockTemplate.class);
				await().atMost(PATIENCE).until(() -> locks.snapshot().held().isEmpty());
			}))
			.satisfies((ex) -> assertThat(ex.key()).isEqualTo(KEY));
		assertThat(amount()).isZero();
		assertToldOnce(one);
		transaction(one).executeWithoutResult((status) -> one.getBean(Counter.class).increment(1));
		assertThat(amount()).isOne();
	}

	private static boolean isCountedDown(CountDownLatch latch) {
		try {
			return latch.await(1, MINUTES);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void assertToldOnce(ConfigurableApplicationContext context) {
		AtomicInteger losses = context.getBean(LossExceptions.class).count;
		await().atMost(PATIENCE).until(() -> losses.get() > 0);
		assertThat(losses).hasValue(1);
	}

	private static LockRequest request() {
		return LockRequest.of(KEY).withWaitTime(PATIENCE);
	}

	private static LockLease tryAcquire(ConfigurableApplicationContext context) {
		return context.getBean(LockOperations.class).tryAcquire(request().withWaitTime(Duration.ZERO));
	}

	private int amount() {
		Integer amount = this.jdbc.queryForObject("SELECT amount FROM counter WHERE id = 1", Integer.class);
		return (amount != null) ? amount : -1;
	}

	private static TransactionTemplate transaction(ConfigurableApplicationContext context) {
		return new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
	}

	private static List<Counter> counters(ConfigurableApplicationContext one, ConfigurableApplicationContext other) {
		return List.of(one.getBean(Counter.class), other.getBean(Counter.class));
	}

	/** Runs 200 times on eight threads, fewer than each pool has connections. */
	private static void runInParallel(IntConsumer work) {
		ExecutorService threads = Executors.newFixedThreadPool(8);
		try {
			List<CompletableFuture<Void>> runs = new ArrayList<>();
			for (int i = 0; i < 200; i++) {
				int run = i;
				runs.add(CompletableFuture.runAsync(() -> work.accept(run), threads));
			}
			assertThat(CompletableFuture.allOf(runs.toArray(CompletableFuture[]::new)))
				.succeedsWithin(PATIENCE.multipliedBy(3));
		}
		finally {
			threads.shutdownNow();
		}
	}

	private ConfigurableApplicationContext start(Manager manager, String... properties) {
		ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
			.web(WebApplicationType.NONE)
			.properties("spring.datasource.url=" + this.database.getUrl(), "spring.datasource.username=postgres",
					"distributed-lock.provider=jdbc", "distributed-lock.key-prefix=test",
					"spring.autoconfigure.exclude=" + manager.excluded)
			.properties(properties)
			.run();
		this.contexts.add(context);
		assertThat(context.getBean(PlatformTransactionManager.class)).isExactlyInstanceOf(manager.type);
		return context;
	}

	enum Manager {

		JDBC(JdbcTransactionManager.class,
				"org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration,"
						+ "org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration"),
		JPA(JpaTransactionManager.class, "");

		private final Class<? extends PlatformTransactionManager> type;

		private final String excluded;

		Manager(Class<? extends PlatformTransactionManager> type, String excluded) {
			this.type = type;
			this.excluded = excluded;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Counter counter(JdbcTemplate jdbc) {
			return new Counter(jdbc);
		}

		@Bean
		LossExceptions losses() {
			return new LossExceptions();
		}

	}

	static class Counter {

		private final JdbcTemplate jdbc;

		private final AtomicInteger reads = new AtomicInteger();

		private volatile Runnable afterRead = () -> {
		};

		Counter(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		void afterRead(Runnable action) {
			this.afterRead = action;
		}

		int reads() {
			return this.reads.get();
		}

		@Transactional
		@DistributedLock(name = "counter", key = "#id", waitTime = "1m")
		void incrementInTransaction(int id) {
			increment(id);
		}

		@DistributedLock(name = "counter", key = "#id", waitTime = "1m")
		void increment(int id) {
			Integer amount = this.jdbc.queryForObject("SELECT amount FROM counter WHERE id = ?", Integer.class, id);
			this.reads.incrementAndGet();
			this.afterRead.run();
			assertThat(amount).isNotNull();
			this.jdbc.update("UPDATE counter SET amount = ? WHERE id = ?", amount + 1, id);
		}

	}

	static class LossExceptions implements LockListener {

		private final AtomicInteger count = new AtomicInteger();

		@Override
		public void onLost(LockLease lease, LossReason reason) {
			this.count.incrementAndGet();
		}

	}

}
