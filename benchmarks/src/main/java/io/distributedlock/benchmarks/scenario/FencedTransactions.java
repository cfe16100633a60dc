package io.distributedlock.benchmarks.scenario;

import java.time.Duration;
import java.util.Set;

import javax.sql.DataSource;

import org.HdrHistogram.Histogram;

import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.distributedlock.LockKey;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.autoconfigure.LockTransactionAutoConfiguration;
import io.distributedlock.autoconfigure.fencing.LockFencingAutoConfiguration;
import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Library;

/**
 * Transactions of one UPDATE, each under a lock, without fences and with them in turn, so
 * that both meet the same moments of the machine. The locks are in memory: only the
 * transactions are measured, by their medians, because a commit waits for the disk. The
 * fence of each key exists.
 */
final class FencedTransactions implements Scenario {

	private static final Set<Store> STORES = Set.of(Store.POSTGRESQL, Store.MYSQL, Store.MARIADB);

	private static final int KEYS = 100;

	@Override
	public String name() {
		return "fenced-transactions";
	}

	@Override
	public boolean suits(Library library, Store store) {
		return STORES.contains(store) && library.isOurs();
	}

	@Override
	public Measurement measure(Trial trial) {
		Duration warmUp = trial.warmUp(1);
		if (!warmUp.isZero()) {
			run(trial, warmUp);
		}
		Answer answer = run(trial, trial.duration());
		double unfenced = answer.value("unfenced");
		double fenced = answer.value("fenced");
		return Measurement.of(new Figure("ratio", fenced / unfenced, "ratio"), new Figure("unfenced", unfenced, "µs"),
				new Figure("fenced", fenced, "µs"));
	}

	private Answer run(Trial trial, Duration duration) {
		return trial.run(1, Task.of(this).with(Task.MILLIS, duration.toMillis())).get(0);
	}

	@Override
	public Answer work(WorkerContext worker, Task task) {
		try (ConfigurableApplicationContext plain = start(worker, false);
				ConfigurableApplicationContext fencing = start(worker, true)) {
			Account unfenced = new Account(plain);
			Account fenced = new Account(fencing);
			for (int id = 0; id < KEYS; id++) {
				fenced.add(id);
			}
			long end = System.nanoTime() + task.duration().toNanos();
			for (int number = 0; System.nanoTime() - end < 0; number++) {
				unfenced.measure(number % KEYS);
				fenced.measure(number % KEYS);
			}
			return Answer.empty().with("unfenced", unfenced.median()).with("fenced", fenced.median());
		}
	}

	private static ConfigurableApplicationContext start(WorkerContext worker, boolean fence) {
		return new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.properties("logging.level.root=warn", "distributed-lock.provider=local",
					"distributed-lock.fencing.enabled=" + fence, "distributed-lock.fencing.initialize-schema=always",
					"spring.datasource.url=" + worker.server().address(),
					"spring.datasource.username=" + worker.server().user(), "spring.datasource.password=")
			.run();
	}

	/** Balances in the database. */
	private static final class Account {

		private final LockOperations locks;

		private final TransactionTemplate transaction;

		private final JdbcTemplate jdbc;

		private final Histogram histogram = Latencies.newHistogram();

		private Account(ConfigurableApplicationContext context) {
			this.locks = context.getBean(LockOperations.class);
			this.transaction = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
			this.jdbc = new JdbcTemplate(context.getBean(DataSource.class));
			this.jdbc.execute("CREATE TABLE IF NOT EXISTS account (id INT PRIMARY KEY, balance BIGINT NOT NULL)");
			if (this.jdbc.queryForList("SELECT id FROM account").isEmpty()) {
				for (int id = 0; id < KEYS; id++) {
					this.jdbc.update("INSERT INTO account VALUES (?, 0)", id);
				}
			}
		}

		private void measure(int id) {
			long begin = System.nanoTime();
			add(id);
			Latencies.record(this.histogram, System.nanoTime() - begin);
		}

		/** Returns the median in microseconds. */
		private double median() {
			return this.histogram.getValueAtPercentile(50) / 1e3;
		}

		private void add(int id) {
			this.locks.execute(LockRequest.of(LockKey.of("account", Integer.toString(id))), (lease) -> {
				this.transaction.executeWithoutResult(
						(status) -> this.jdbc.update("UPDATE account SET balance = balance + 1 WHERE id = ?", id));
				return true;
			});
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
			DistributedLockAutoConfiguration.class, LockFencingAutoConfiguration.class,
			LockTransactionAutoConfiguration.class })
	static class Application {

	}

}
