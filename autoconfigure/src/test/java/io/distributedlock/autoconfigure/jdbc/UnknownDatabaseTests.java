package io.distributedlock.autoconfigure.jdbc;

import java.sql.DriverManager;
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
import io.distributedlock.LockOperations;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

/** The start of an application whose database keeps no locks. */
@ExtendWith(OutputCaptureExtension.class)
class UnknownDatabaseTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withBean(LockUser.class)
		.withConfiguration(
				AutoConfigurations.of(JdbcLockAutoConfiguration.class, DistributedLockAutoConfiguration.class))
		.withPropertyValues("spring.application.name=shop", "distributed-lock.call-timeout=10s");

	@ParameterizedTest
	@CsvSource({ "jdbc:hsqldb:mem:unknown, HSQL Database Engine",
			"jdbc:derby:memory:unknown;create=true, Apache Derby" })
	void databaseIsRefusedByNameBeforeThePoolOfTheLocksStarts(String url, String name, CapturedOutput output)
			throws SQLException {
		// A database that is created takes longer than a pool waits for a connection.
		DriverManager.getConnection(url).close();
		this.runner.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
			.withPropertyValues("spring.datasource.url=" + url)
			.run((context) -> {
				assertRefused(context, name);
				assertThat(output).doesNotContain("distributed-lock - ");
				assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
					.noneMatch((thread) -> thread.startsWith("distributed-lock:"));
			});
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
