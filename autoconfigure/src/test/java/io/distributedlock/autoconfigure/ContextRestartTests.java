package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.autoconfigure.jdbc.JdbcLockAutoConfiguration;
import io.distributedlock.autoconfigure.redis.RedisLockAutoConfiguration;
import io.distributedlock.autoconfigure.zookeeper.ZooKeeperLockAutoConfiguration;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.redis.TestRedis;
import io.distributedlock.zookeeper.TestZooKeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests of a context that is stopped and started again, as around a checkpoint of its
 * process, with each store.
 */
@Tag("full")
class ContextRestartTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final LockRequest REQUEST = LockRequest.of(LockKey.of("restarts", "42"))
		.withLease(Duration.ofMinutes(1))
		.withWaitTime(PATIENCE);

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, JdbcLockAutoConfiguration.class,
						RedisLockAutoConfiguration.class, ZooKeeperLockAutoConfiguration.class))
		.withPropertyValues("spring.application.name=restarts", "distributed-lock.call-timeout=10s",
				"distributed-lock.shutdown.grace-period=100ms");

	static Stream<Arguments> stores() {
		return Stream.of(Arguments.of("H2", database(TestDatabases.withTable(TestDatabases.h2()))),
				Arguments.of("PostgreSQL", database(TestDatabases.withTable(TestDatabases.postgres()))),
				Arguments.of("Redis", (UnaryOperator<ApplicationContextRunner>) ContextRestartTests::redis),
				Arguments.of("ZooKeeper", (UnaryOperator<ApplicationContextRunner>) ContextRestartTests::zooKeeper));
	}

	private static UnaryOperator<ApplicationContextRunner> database(DataSource database) {
		return (runner) -> runner.withBean(DataSource.class, () -> database);
	}

	private static ApplicationContextRunner redis(ApplicationContextRunner runner) {
		return runner.withBean(RedisConnectionFactory.class, () -> TestRedis.lettuce(TestRedis.port()));
	}

	private static ApplicationContextRunner zooKeeper(ApplicationContextRunner runner) {
		return runner.withPropertyValues("distributed-lock.zookeeper.root=/restarts",
				"distributed-lock.zookeeper.connect-string=" + TestZooKeeper.connectString());
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("stores")
	void locksAreGrantedAgain(String name, UnaryOperator<ApplicationContextRunner> store) {
		store.apply(this.runner).run((context) -> {
			ConfigurableApplicationContext restarted = context.getSourceApplicationContext();
			LockOperations locks = context.getBean(LockOperations.class);
			long last = acquireOnce(locks);
			for (int round = 0; round < 2; round++) {
				restarted.stop();
				assertThatExceptionOfType(LockException.class).isThrownBy(() -> locks.acquire(REQUEST))
					.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.SHUTTING_DOWN));
				restarted.start();
				long token = acquireOnce(locks);
				assertThat(token).isGreaterThan(last);
				last = token;
			}
		});
	}

	private static long acquireOnce(LockOperations locks) {
		try (LockLease lease = locks.acquire(REQUEST)) {
			return lease.fencingToken().value();
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("stores")
	void lockOfARunningBodyIsNeitherReleasedNorGranted(String name, UnaryOperator<ApplicationContextRunner> store) {
		store.apply(this.runner).run((context) -> {
			ConfigurableApplicationContext restarted = context.getSourceApplicationContext();
			LockOperations locks = context.getBean(LockOperations.class);
			LockLease held = locks.acquire(REQUEST);
			restarted.stop();
			restarted.start();
			LockLease second = locks.tryAcquire(REQUEST.withWaitTime(Duration.ZERO));
			assertThat(second == null || !held.isHeld()).as("The lock has one holder").isTrue();
			assertThat(second).isNull();
			held.close();
			long token = held.fencingToken().value();
			assertThat(acquireOnce(locks)).isGreaterThan(token);
		});
	}

}
