package io.distributedlock.autoconfigure;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.autoconfigure.jdbc.JdbcLockAutoConfiguration;
import io.distributedlock.autoconfigure.redis.RedisLockAutoConfiguration;
import io.distributedlock.autoconfigure.zookeeper.ZooKeeperLockAutoConfiguration;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.redis.RedisLockProvider;
import io.distributedlock.redis.RedisLockSettings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests that nothing connects to a store while beans are created, and nothing at all if
 * it is not clear which store is meant.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("full")
class EarlyConnectionTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withBean(LockUser.class)
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				DataSourceAutoConfiguration.class, JdbcLockAutoConfiguration.class, DataRedisAutoConfiguration.class,
				RedisLockAutoConfiguration.class, ZooKeeperLockAutoConfiguration.class))
		.withPropertyValues("spring.application.name=shop", "distributed-lock.jdbc.initialize-schema=never");

	static Stream<Arguments> stores() {
		return Stream.of(
				Arguments.of("jdbc",
						new String[] { "spring.datasource.url=jdbc:postgresql://127.0.0.1:%d/locks",
								"spring.datasource.username=locks" }),
				Arguments.of("redis", new String[] { "spring.data.redis.host=127.0.0.1", "spring.data.redis.port=%d" }),
				Arguments.of("zookeeper", new String[] { "distributed-lock.zookeeper.connect-string=127.0.0.1:%d",
						"distributed-lock.zookeeper.connection-timeout=500ms" }));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("stores")
	void storeIsConnectedToOnlyWhenAllSingletonsAreReady(String store, String[] properties, CapturedOutput output)
			throws IOException {
		try (ClosingServer server = new ClosingServer()) {
			this.runner.withPropertyValues("distributed-lock.provider=" + store)
				.withPropertyValues(
						Stream.of(properties).map((text) -> text.formatted(server.port())).toArray(String[]::new))
				.withBean(SmartInitializingSingleton.class,
						() -> () -> await().during(Duration.ofMillis(300)).until(() -> server.connections() == 0))
				.run((context) -> {
					assertThat(context).hasNotFailed();
					assertThat(context.getBean(LockProvider.class).name()).isEqualTo(store);
					await().until(() -> server.connections() > 0);
				});
			assertThat(output).containsOnlyOnce("The lock store '" + store + "' did not answer at start");
		}
	}

	@Test
	void unclearChoiceFailsBeforeAPoolIsOpenedOrATableCreated(CapturedOutput output) throws IOException {
		DataSource database = TestDatabases.h2();
		try (ClosingServer server = new ClosingServer()) {
			ApplicationContextRunner unclear = this.runner.withPropertyValues("spring.data.redis.host=127.0.0.1",
					"spring.data.redis.port=" + server.port());
			unclear.withPropertyValues("distributed-lock.jdbc.initialize-schema=always")
				.withBean(DataSource.class, () -> database)
				.run((context) -> assertSeveral(context.getStartupFailure()));
			unclear
				.withPropertyValues("spring.datasource.url=jdbc:postgresql://127.0.0.1:" + server.port() + "/locks",
						"spring.datasource.username=locks")
				.run((context) -> assertSeveral(context.getStartupFailure()));
			assertThat(server.connections()).isZero();
		}
		assertThat(new JdbcTemplate(database)
			.queryForList("SELECT 1 FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME = 'DISTRIBUTED_LOCK'")).isEmpty();
		assertThat(output).doesNotContain("Hikari", "Locks share");
	}

	private static void assertSeveral(Throwable failure) {
		assertThat(failure)
			.isInstanceOfSatisfying(LockConfigurationException.class,
					(ex) -> assertThat(ex.error()).isEqualTo(LockError.SEVERAL_PROVIDERS))
			.hasMessageContaining("jdbc, redis");
	}

	@Test
	void clientsAreCreatedAfterAllPostProcessors(CapturedOutput output) {
		Set<String> seen = ConcurrentHashMap.newKeySet();
		this.runner
			.withPropertyValues("distributed-lock.provider=jdbc", "distributed-lock.jdbc.initialize-schema=always",
					"spring.datasource.generate-unique-name=true", "spring.data.redis.port=1")
			.withBean(BeanPostProcessor.class, () -> new BeanPostProcessor() {
				@Override
				public Object postProcessAfterInitialization(Object bean, String beanName) {
					seen.add(beanName);
					return bean;
				}
			})
			.withUserConfiguration(AdditionalProvider.class)
			.withBean(Job.class)
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(seen).contains("dataSource", "redisConnectionFactory", "distributedLockJdbcProvider",
				"distributedLockTemplate");
		assertThat(output).doesNotContain("not eligible for getting processed");
	}

	@Configuration(proxyBeanMethods = false)
	static class AdditionalProvider {

		@Bean(defaultCandidate = false)
		RedisLockProvider additional(RedisConnectionFactory factory) {
			return new RedisLockProvider(factory, RedisLockSettings.defaults("shop"));
		}

	}

	static class Job {

		@DistributedLock
		void run() {
		}

	}

	/** Server that counts connections and closes each. */
	private static final class ClosingServer implements AutoCloseable {

		private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());

		private final AtomicInteger connections = new AtomicInteger();

		private final Thread thread = new Thread(this::accept, "closing-server");

		ClosingServer() throws IOException {
			this.thread.setDaemon(true);
			this.thread.start();
		}

		private void accept() {
			while (true) {
				try (Socket accepted = this.socket.accept()) {
					this.connections.incrementAndGet();
				}
				catch (IOException ex) {
					return;
				}
			}
		}

		int port() {
			return this.socket.getLocalPort();
		}

		int connections() {
			return this.connections.get();
		}

		@Override
		public void close() throws IOException {
			this.socket.close();
			try {
				this.thread.join();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

	}

}
