package io.distributedlock.autoconfigure;

import java.io.IOException;
import java.lang.Thread.State;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.autoconfigure.jdbc.JdbcLockAutoConfiguration;
import io.distributedlock.autoconfigure.observe.LockHealthAutoConfiguration;
import io.distributedlock.autoconfigure.observe.LockMdcAutoConfiguration;
import io.distributedlock.autoconfigure.observe.LockMetricsAutoConfiguration;
import io.distributedlock.autoconfigure.observe.LockObservationAutoConfiguration;
import io.distributedlock.autoconfigure.redis.RedisLockAutoConfiguration;
import io.distributedlock.autoconfigure.zookeeper.ZooKeeperLockAutoConfiguration;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.interceptor.RecordingLockOperations;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockProvider;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.spy;

/**
 * Applications without locks: they create nothing that locks need, and get it with the
 * first lock.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("full")
class UnusedLocksTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LockTransactionAutoConfiguration.class, LockObservationAutoConfiguration.class,
				LockMetricsAutoConfiguration.class, LockMdcAutoConfiguration.class, LockHealthAutoConfiguration.class,
				MetricsAutoConfiguration.class, SimpleMetricsExportAutoConfiguration.class,
				DataSourceAutoConfiguration.class, JdbcTemplateAutoConfiguration.class, JdbcLockAutoConfiguration.class,
				DataRedisAutoConfiguration.class, RedisLockAutoConfiguration.class,
				ZooKeeperLockAutoConfiguration.class))
		.withPropertyValues("spring.application.name=shop", "spring.datasource.generate-unique-name=true");

	@ParameterizedTest
	@ValueSource(strings = { "local", "none", "jdbc", "redis", "zookeeper" })
	void nothingIsCreatedForAnApplicationWithoutLocks(String provider, CapturedOutput output) throws IOException {
		try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
			this.runner
				.withPropertyValues("distributed-lock.provider=" + provider,
						"spring.data.redis.port=" + server.getLocalPort(),
						"distributed-lock.zookeeper.connect-string=127.0.0.1:" + server.getLocalPort())
				.run((context) -> {
					assertThat(context).hasNotFailed();
					assertThat(context.getBean(HealthIndicator.class).health().getStatus()).isEqualTo(Status.UNKNOWN);
					GenericApplicationContext present = (GenericApplicationContext) context
						.getSourceApplicationContext();
					assertThat(Arrays.stream(present.getBeanDefinitionNames())
						.filter((name) -> name.startsWith("distributedLock") && present.isSingleton(name)
								&& present.getBeanFactory().containsSingleton(name)))
						.containsExactlyInAnyOrder("distributedLockAttributeSource", "distributedLockedMethodRegistry",
								"distributedLockAdvisor", "distributedLockedBeanVerifier",
								"distributedLockDurationUnits", "distributedLockOperationsLookup",
								"distributedLockMethodLimitsCheck", "distributedLockStoresCheck",
								"distributedLockEngines", "distributedLockStart", "distributedLockCommitGuardProcessor",
								"distributedLockChildTransactionsWarning", "distributedLockedMethodMeters");
				});
			server.setSoTimeout(1);
			assertThatExceptionOfType(IOException.class).isThrownBy(server::accept);
		}
		assertThat(output).doesNotContain("Distributed locks:", "Locking is off");
	}

	@Test
	void tableIsCreatedWithTheFirstLockOnly(CapturedOutput output) {
		DataSource database = TestDatabases.h2();
		this.runner.withBean(DataSource.class, () -> database)
			.withPropertyValues("distributed-lock.provider=jdbc", "distributed-lock.jdbc.initialize-schema=always")
			.run((context) -> {
				assertThat(context).hasSingleBean(JdbcTemplate.class);
				assertThat(tables(database)).isZero();
				assertThat(output).doesNotContain("Distributed locks:");
				acquire(context);
				assertThat(tables(database)).isOne();
				assertThat(output).containsOnlyOnce("Distributed locks: store 'jdbc'");
			});
	}

	private static int tables(DataSource database) {
		return new JdbcTemplate(database)
			.queryForList("SELECT 1 FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME = 'DISTRIBUTED_LOCK'")
			.size();
	}

	private static void acquire(AssertableApplicationContext context) {
		try (LockLease lease = context.getBean(LockOperations.class)
			.acquire(LockRequest.of(LockKey.of("order", "42")))) {
			assertThat(lease.isHeld()).isTrue();
		}
	}

	@Test
	void lockedMethodBringsTheEngine(CapturedOutput output) {
		this.runner.withPropertyValues("distributed-lock.provider=local").withBean(Job.class).run((context) -> {
			assertThat(output).containsOnlyOnce("Distributed locks: store 'local'");
			assertThat(context.getBean(Job.class).run()).isEqualTo("done");
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "lazy", "prototype", "lazy application" })
	void lockedBeanThatIsNotCreatedYetBringsTheEngineToo(String kind, CapturedOutput output) {
		this.runner
			.withPropertyValues("distributed-lock.provider=redis", "spring.data.redis.port=1",
					"distributed-lock.fail-fast=true")
			.withInitializer((context) -> {
				if (kind.equals("lazy application")) {
					context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor());
				}
			})
			.withBean(Job.class, Job::new, (definition) -> {
				if (kind.equals("lazy")) {
					definition.setLazyInit(true);
				}
				if (kind.equals("prototype")) {
					definition.setScope("prototype");
				}
			})
			.run(UnusedLocksTests::assertStoreIsDown);
		assertThat(output).containsOnlyOnce("Distributed locks: store 'redis'");
	}

	private static void assertStoreIsDown(AssertableApplicationContext context) {
		assertThat(context).getFailure()
			.isInstanceOfSatisfying(LockConfigurationException.class,
					(ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_DOWN_AT_START));
	}

	@Test
	void mockInPlaceOfTheLocksNeedsNoStore() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
			.withInitializer((context) -> context.addBeanFactoryPostProcessor((factory) -> {
				((GenericApplicationContext) context).removeBeanDefinition("distributedLockTemplate");
				factory.registerSingleton("distributedLockTemplate", mock(LockTemplate.class));
			}))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void lockedMethodIsCheckedBehindADecoratorThatLooksTheLocksUp(CapturedOutput output) {
		this.runner
			.withPropertyValues("distributed-lock.provider=redis", "spring.data.redis.port=1",
					"distributed-lock.fail-fast=true")
			.withBean("decorator", LockOperations.class, RecordingLockOperations::new,
					(definition) -> definition.setPrimary(true))
			.withBean(Job.class)
			.run(UnusedLocksTests::assertStoreIsDown);
		assertThat(output).containsOnlyOnce("Distributed locks: store 'redis'");
	}

	@Test
	void lockedMethodOfAChildHasTheStoreOfItsParentChecked(CapturedOutput output) {
		this.runner
			.withPropertyValues("distributed-lock.provider=redis", "spring.data.redis.port=1",
					"distributed-lock.fail-fast=true")
			.run((parent) -> {
				assertThat(output).doesNotContain("Distributed locks:");
				ApplicationContextRunner child = new ApplicationContextRunner().withParent(parent)
					.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
					.withBean(Job.class);
				child.run(UnusedLocksTests::assertStoreIsDown);
				child.run(UnusedLocksTests::assertStoreIsDown);
				assertThat(output).containsOnlyOnce("Distributed locks: store 'redis'");
			});
	}

	@Test
	void limitsOfTheStoreOfAParentApplyToAChild() {
		this.runner
			.withPropertyValues("distributed-lock.provider=zookeeper",
					"distributed-lock.zookeeper.connect-string=127.0.0.1:1",
					"distributed-lock.zookeeper.connection-timeout=100ms")
			.run((parent) -> new ApplicationContextRunner().withParent(parent)
				.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
				.withBean(KeptJob.class)
				.run((context) -> assertThat(context).getFailure()
					.isInstanceOfSatisfying(LockConfigurationException.class,
							(ex) -> assertThat(ex.error()).isEqualTo(LockError.MIN_HOLD_UNSUPPORTED))));
	}

	@Test
	void firstLockAfterAStopIsRefused() {
		this.runner.withPropertyValues("distributed-lock.provider=local").run((context) -> {
			context.getBean(LockEngines.class).stop();
			assertRefused(context.getBean(LockOperations.class));
			context.getBean(LockEngines.class).start();
			acquire(context);
		});
	}

	@Test
	void firstLockDuringAStopIsRefusedAndDoesNotHoldTheStop() {
		CountDownLatch creating = new CountDownLatch(1);
		CountDownLatch stopped = new CountDownLatch(1);
		this.runner.withPropertyValues("distributed-lock.provider=slow").withBean("slow", LockProvider.class, () -> {
			creating.countDown();
			await(stopped);
			return new LocalLockProvider();
		}, (definition) -> definition.setLazyInit(true)).run((context) -> {
			LockEngines lifecycle = context.getBean(LockEngines.class);
			CompletableFuture<LockOperations> first = CompletableFuture
				.supplyAsync(() -> context.getBean(LockOperations.class), UnusedLocksTests::start);
			try {
				await(creating);
				CompletableFuture.runAsync(lifecycle::stop, UnusedLocksTests::start).get(30, SECONDS);
			}
			finally {
				stopped.countDown();
			}
			assertRefused(first.get(60, SECONDS));
			lifecycle.start();
			acquire(context);
		});
	}

	private static void start(Runnable task) {
		Thread thread = new Thread(task);
		thread.setDaemon(true);
		thread.start();
	}

	@Test
	void stopWaitsForAnEngineThatOthersCannotFindYet() {
		AtomicReference<LockEngines> engines = new AtomicReference<>();
		CompletableFuture<Void> stopped = new CompletableFuture<>();
		LockProvider provider = spy(new LocalLockProvider());
		willAnswer((duringTheCreation) -> {
			Thread stop = new Thread(() -> stopped.completeAsync(() -> {
				engines.get().stop();
				return null;
			}, Runnable::run));
			stop.start();
			Awaitility.await().atMost(60, SECONDS).until(() -> stop.getState() == State.WAITING || stopped.isDone());
			return null;
		}).given(provider).addForcedReleaseHandler(any());
		this.runner.withPropertyValues("distributed-lock.provider=slow")
			.withBean("slow", LockProvider.class, () -> provider)
			.run((context) -> {
				engines.set(context.getBean(LockEngines.class));
				LockOperations locks = context.getBean(LockOperations.class);
				stopped.get(60, SECONDS);
				assertRefused(locks);
			});
	}

	private static void assertRefused(LockOperations locks) {
		assertThatExceptionOfType(LockException.class)
			.isThrownBy(() -> locks.acquire(LockRequest.of(LockKey.of("order", "42"))))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.SHUTTING_DOWN));
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(60, SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "etcd", "zookeeper" })
	void storeThatIsNotThereFailsTheStartAllTheSame(String provider) {
		this.runner.withPropertyValues("distributed-lock.provider=" + provider)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOfSatisfying(LockConfigurationException.class, (ex) -> {
					assertThat(ex.error()).isEqualTo(LockError.NO_PROVIDER);
					assertThat(ex.problem()).contains("distributed-lock.provider is '" + provider + "'");
				}));
	}

	@Test
	void providerOfTheApplicationIsNotCreatedEither() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.provider=own")
			.withBean("mine", LockProvider.class, () -> {
				throw new IllegalStateException("Nobody needs it");
			}, (definition) -> definition.setLazyInit(true))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	static class KeptJob {

		@DistributedLock(minHold = "1s")
		void run() {
		}

	}

	static class Job {

		@DistributedLock
		String run() {
			return "done";
		}

	}

}
