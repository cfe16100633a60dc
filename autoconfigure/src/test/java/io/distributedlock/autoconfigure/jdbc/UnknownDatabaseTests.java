package io.distributedlock.autoconfigure.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.jdbc.ImitatedDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

/** The start of an application whose database keeps no locks. */
@ExtendWith(OutputCaptureExtension.class)
class UnknownDatabaseTests {

	/** Spring Boot would find the driver of the database behind it. */
	private static final String DRIVER = "spring.datasource.driver-class-name=" + ImitatedDatabase.class.getName();

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withBean(LockUser.class)
		.withConfiguration(
				AutoConfigurations.of(JdbcLockAutoConfiguration.class, DistributedLockAutoConfiguration.class))
		.withPropertyValues("spring.application.name=shop", "distributed-lock.call-timeout=10s");

	@Test
	void databaseIsRefusedByNameBeforeThePoolOfTheLocksStarts(CapturedOutput output) {
		this.runner.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
			.withPropertyValues("spring.datasource.url=" + ImitatedDatabase.url("SQLite", 3), DRIVER)
			.run((context) -> {
				assertRefused(context, "SQLite");
				assertThat(output).doesNotContain("distributed-lock - ");
				assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
					.noneMatch((thread) -> thread.startsWith("distributed-lock:"));
			});
	}

	/**
	 * The statements of Oracle fail on H2: the start then goes on to the first of them.
	 */
	@Test
	void databaseWithoutTestsNeedsAProperty(CapturedOutput output) {
		String url = ImitatedDatabase.url("Oracle", 19) + ";MODE=Oracle";
		ApplicationContextRunner oracle = this.runner
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
			.withPropertyValues("spring.datasource.url=" + url, DRIVER, "distributed-lock.fail-fast=true",
					"distributed-lock.jdbc.initialize-schema=always");
		oracle.run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure())
				.isInstanceOfSatisfying(LockConfigurationException.class,
						(ex) -> assertThat(ex.error()).isEqualTo(LockError.NO_PROVIDER))
				.hasMessageContaining("Oracle")
				.hasMessageContaining("never run")
				.hasMessageContaining("distributed-lock.jdbc.untested-dialects");
			assertThat(output).doesNotContain("on which their statements were never run");
			assertThat(hasTable(url)).isFalse();
		});
		oracle.withPropertyValues("distributed-lock.jdbc.untested-dialects=true").run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure()).hasMessageNotContaining("never run");
			assertThat(output.getOut().split("on which their statements were never run", -1)).hasSize(2);
			assertThat(hasTable(url)).isTrue();
		});
	}

	private static boolean hasTable(String url) throws SQLException {
		try (Connection connection = DriverManager.getConnection(url);
				ResultSet tables = connection.getMetaData().getTables(null, null, "DISTRIBUTED_LOCK", null)) {
			return tables.next();
		}
	}

	@ParameterizedTest
	@CsvSource({ "jdbc:hsqldb:mem:portable", "jdbc:derby:memory:portable;create=true" })
	void embeddedDatabaseKeepsLocks(String url) throws SQLException {
		// A database that is created takes longer than a pool waits for a connection.
		DriverManager.getConnection(url).close();
		ApplicationContextRunner portable = this.runner
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
			.withPropertyValues("spring.datasource.url=" + url, "distributed-lock.jdbc.initialize-schema=always");
		for (int start = 0; start < 2; start++) {
			portable.run((context) -> {
				assertThat(context).hasNotFailed();
				try (LockLease lease = context.getBean(LockOperations.class)
					.tryAcquire(LockRequest.of(LockKey.of("job")))) {
					assertThat(lease).isNotNull();
				}
			});
		}
		portable.withPropertyValues("distributed-lock.jdbc.strategy=row-lock")
			.run((context) -> assertThat(context.getStartupFailure())
				.isInstanceOfSatisfying(LockConfigurationException.class,
						(ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_UNSUITABLE))
				.hasMessageContaining("row locks"));
	}

	@Test
	void mockIsRefused() {
		this.runner.withBean(DataSource.class, () -> mock(DataSource.class))
			.run((context) -> assertRefused(context, "unknown"));
	}

	private static void assertRefused(AssertableApplicationContext context, String name) {
		assertThat(context).hasFailed();
		assertThat(context.getStartupFailure())
			.isInstanceOfSatisfying(LockConfigurationException.class,
					(ex) -> assertThat(ex.error()).isEqualTo(LockError.NO_PROVIDER))
			.hasMessageContaining("'" + name + "' is not supported");
	}

	/** Needs locks, so that the store is checked. */
	static class LockUser {

		LockUser(LockOperations locks) {
		}

	}

}
