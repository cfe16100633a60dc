package io.distributedlock.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.sql.DataSource;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;

import io.distributedlock.annotation.ScheduledLock;
import io.distributedlock.autoconfigure.jdbc.JdbcLockAutoConfiguration;
import io.distributedlock.autoconfigure.redis.RedisLockAutoConfiguration;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.redis.TestRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the statements in {@code docs/scheduled-jobs.md} free a kept lock, and leave
 * one that is held alone.
 */
@Tag("full")
class KeptLockStatementTests {

	private static String page() {
		try {
			return Files.readString(Path.of("..", "docs", "scheduled-jobs.md"));
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static String documented(String pattern) {
		Matcher matcher = Pattern.compile(pattern, Pattern.DOTALL).matcher(page());
		assertThat(matcher.find()).as(pattern).isTrue();
		return matcher.group(1);
	}

	private static ApplicationContextRunner application() {
		return new ApplicationContextRunner().withBean(Work.class)
			.withBean(Job.class)
			.withPropertyValues("distributed-lock.key-prefix=shop", "distributed-lock.call-timeout=10s");
	}

	@ParameterizedTest
	@EnumSource
	void statementFreesAKeptRow(Database database) {
		String statement = documented("-- " + database.heading + "\n(.*?);");
		DataSource dataSource = TestDatabases.withTable(database.open());
		JdbcTemplate jdbc = new JdbcTemplate(dataSource);
		application()
			.withConfiguration(
					AutoConfigurations.of(JdbcLockAutoConfiguration.class, DistributedLockAutoConfiguration.class))
			.withBean(DataSource.class, () -> dataSource)
			.run((context) -> assertFreed(context.getBean(Job.class), context.getBean(Work.class),
					() -> jdbc.update(statement)));
	}

	@Test
	void commandFreesAKeptKeyOfRedis() {
		String pattern = documented("--scan --pattern '(.*?)'");
		String script = documented("redis-cli EVAL \"(.*?)\"");
		try (Jedis jedis = TestRedis.admin()) {
			application()
				.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class,
						RedisLockAutoConfiguration.class, DistributedLockAutoConfiguration.class))
				.withPropertyValues("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + TestRedis.port())
				.run((context) -> assertFreed(context.getBean(Job.class), context.getBean(Work.class), () -> {
					String key = jedis.keys(pattern).iterator().next();
					return Math.toIntExact((Long) jedis.eval(script, 1, key));
				}));
		}
	}

	private static void assertFreed(Job job, Work work, Operator operator) {
		work.during = () -> assertThat(operator.free()).as("while the job runs").isZero();
		job.run();
		job.run();
		assertThat(work.runs).isOne();
		assertThat(operator.free()).isOne();
		job.run();
		assertThat(work.runs).isEqualTo(2);
		// For tests that share the server.
		operator.free();
	}

	/** What an operator sends. */
	private interface Operator {

		/** Returns how many locks it has freed. */
		int free();

	}

	private enum Database {

		POSTGRES("PostgreSQL, MySQL, MariaDB") {

			@Override
			DataSource open() {
				return TestDatabases.postgres();
			}

		},
		MARIA_DB("PostgreSQL, MySQL, MariaDB") {

			@Override
			DataSource open() {
				return TestDatabases.mariaDb();
			}

		},
		MY_SQL("PostgreSQL, MySQL, MariaDB") {

			@Override
			DataSource open() {
				return TestDatabases.mySql();
			}

		},
		H2("H2") {

			@Override
			DataSource open() {
				return TestDatabases.h2();
			}

		};

		private final String heading;

		Database(String heading) {
			this.heading = heading;
		}

		abstract DataSource open();

	}

	static class Work {

		private Runnable during = () -> {
		};

		private int runs;

		void run() {
			this.runs++;
			this.during.run();
		}

	}

	static class Job {

		private final Work work;

		Job(Work work) {
			this.work = work;
		}

		@ScheduledLock(name = "nightly-report", minHold = "30m")
		public void run() {
			this.work.run();
		}

	}

}
