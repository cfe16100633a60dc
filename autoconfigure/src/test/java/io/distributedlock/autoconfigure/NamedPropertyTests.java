package io.distributedlock.autoconfigure;

import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.autoconfigure.jdbc.JdbcLockAutoConfiguration;
import io.distributedlock.autoconfigure.redis.RedisQuorumLockAutoConfiguration;
import io.distributedlock.autoconfigure.zookeeper.ZooKeeperLockAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Messages of the start that name a property: in the set-up in which each appears, that
 * property is the one that makes it disappear.
 */
@ExtendWith(OutputCaptureExtension.class)
public class NamedPropertyTests {

	private final ApplicationContextRunner without = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, RedisQuorumLockAutoConfiguration.class,
						ZooKeeperLockAutoConfiguration.class, LockTransactionAutoConfiguration.class))
		.withBean(LockUser.class)
		.withPropertyValues("distributed-lock.zookeeper.connection-timeout=50ms", "distributed-lock.call-timeout=400ms",
				"distributed-lock.zookeeper.session-timeout=9s");

	private final ApplicationContextRunner database = this.without
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class, JdbcLockAutoConfiguration.class))
		.withPropertyValues("spring.datasource.generate-unique-name=true");

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					| There is no store | provider=local
					| There is no store | provider=none
					| There is no store | zookeeper.connect-string=127.0.0.1:1
					provider=zookeeper | distributed-lock.provider is 'zookeeper' | zookeeper.connect-string=127.0.0.1:1
					provider=local,transaction.commit-margin=20s | Use less than 20000ms | transaction.commit-margin=19999ms
					provider=local,transaction.commit-margin=20s | or a longer distributed-lock.lease | lease=40s
					provider=local,fencing.enabled=true | fencing.enabled is true | fencing.enabled=false
					provider=local,call-timeout=6s | Use a call-timeout of at most 5000ms | call-timeout=5s
					provider=local,call-timeout=6s | or a lease of at least 36000ms | lease=36s
					provider=local,lease=3s,hand-off.max-time=200ms | a max-time of at most 150ms | hand-off.max-time=150ms
					provider=local,lease=3s,hand-off.max-time=200ms | distributed-lock.hand-off.max-time=0 | hand-off.max-time=0
					provider=none | distributed-lock.provider=none | provider=local
					redis.quorum.nodes[0].host=a | distributed-lock.redis.quorum.nodes is a list of 1 | redis.quorum.nodes[1].host=a,redis.quorum.nodes[2].host=a
					redis.quorum.nodes[0].username=a,redis.quorum.nodes[1].host=a,redis.quorum.nodes[2].host=a | Set distributed-lock.redis.quorum.nodes[0].host | redis.quorum.nodes[0].host=a
					redis.quorum.max-lease=10s,redis.quorum.nodes[0].host=a | redis.quorum.max-lease is 10000 ms | redis.quorum.max-lease=30s
					""")
	void removesItsMessage(@Nullable String setUp, String message, String remedy, CapturedOutput output) {
		assertRemoved(this.without, setUp, message, remedy, output);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			| Neither distributed-lock.key-prefix | key-prefix=shop
			zookeeper.connect-string=127.0.0.1:1 | Choose one with distributed-lock.provider | provider=jdbc
			jdbc.pool.size=101 | distributed-lock.jdbc.pool.size | jdbc.pool.size=100
			jdbc.pool.row-lock-size=1 | distributed-lock.jdbc.pool.row-lock-size | jdbc.pool.row-lock-size=2
			jdbc.pool.type=application | distributed-lock.jdbc.pool.type=application | jdbc.pool.type=own
			""")
	void ofADatabaseRemovesItsMessage(@Nullable String setUp, String message, String remedy, CapturedOutput output) {
		assertRemoved(this.database, setUp, message, remedy, output);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			provider=none,max-hold=1m | or distributed-lock.max-hold | max-hold=3m
			""")
	void ofALockedMethodRemovesItsMessage(String setUp, String message, String remedy, CapturedOutput output) {
		assertRemoved(this.without.withBean(Job.class), setUp, message, remedy, output);
	}

	public static void assertRemoved(ApplicationContextRunner runner, @Nullable String setUp, String message,
			String remedy, CapturedOutput output) {
		ApplicationContextRunner before = with(runner, setUp);
		assertThat(messages(before, output)).contains(message);
		assertThat(messages(with(before, remedy), output)).doesNotContain(message);
	}

	private static ApplicationContextRunner with(ApplicationContextRunner runner, @Nullable String properties) {
		ApplicationContextRunner result = runner;
		for (String property : (properties != null) ? properties.split(",") : new String[0]) {
			result = result.withPropertyValues("distributed-lock." + property);
		}
		return result;
	}

	/** Returns what a start logs and why it fails, if it does. */
	private static String messages(ApplicationContextRunner runner, CapturedOutput output) {
		int begin = output.length();
		AtomicReference<String> failure = new AtomicReference<>("");
		runner.run((context) -> {
			for (Throwable cause = context.getStartupFailure(); cause != null; cause = cause.getCause()) {
				failure.set(failure.get() + cause.getMessage());
			}
		});
		return output.toString().substring(begin) + failure.get();
	}

	static class Job {

		@DistributedLock(provider = "none", minHold = "2m")
		void run() {
		}

	}

}
