package io.distributedlock.autoconfigure.zookeeper;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.annotation.ScheduledLock;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.autoconfigure.LockUser;
import io.distributedlock.autoconfigure.NamedPropertyTests;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.zookeeper.OldZooKeeper;
import io.distributedlock.zookeeper.TestZooKeeper;
import io.distributedlock.zookeeper.ZooKeeperLockProvider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@ExtendWith(OutputCaptureExtension.class)
@Tag("full")
class ZooKeeperLockAutoConfigurationTests {

	private final ApplicationContextRunner bare = new ApplicationContextRunner().withBean(LockUser.class)
		.withConfiguration(
				AutoConfigurations.of(ZooKeeperLockAutoConfiguration.class, DistributedLockAutoConfiguration.class))
		.withPropertyValues("spring.application.name=shop", "distributed-lock.call-timeout=10s");

	private final ApplicationContextRunner runner = this.bare
		.withPropertyValues("distributed-lock.zookeeper.connect-string=" + TestZooKeeper.connectString());

	private static void assertLocksIn(String root, ApplicationContext context) throws Exception {
		try (CuratorFramework admin = client();
				LockLease lease = context.getBean(LockOperations.class)
					.acquire(LockRequest.of(LockKey.of("orders", "42")))) {
			lease.ensureHeld();
			String locks = root + "/locks";
			List<String> held = new ArrayList<>();
			for (String bucket : admin.getChildren().forPath(locks)) {
				held.addAll(admin.getChildren().forPath(locks + "/" + bucket));
			}
			assertThat(held).containsExactly("shop:orders:42");
		}
	}

	@Test
	void shortestHoldIsRefusedAtStart() {
		this.runner.withBean(KeptJob.class).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure()).isInstanceOf(LockConfigurationException.class)
				.hasMessageStartingWith("DL-618")
				.hasMessageContaining(KeptJob.class.getName() + ".run()")
				.hasMessageContaining("zookeeper")
				.hasMessageContaining("Remove the minHold");
		});
	}

	private static CuratorFramework client() {
		CuratorFramework client = CuratorFrameworkFactory.newClient(TestZooKeeper.connectString(), new RetryOneTime(1));
		client.start();
		return client;
	}

	private static LockException failure(Throwable thrown) {
		Throwable failure = thrown;
		while (!(failure instanceof LockException)) {
			failure = failure.getCause();
		}
		return (LockException) failure;
	}

	@Test
	void clientIsBuiltFromTheProperties() {
		this.runner
			.withPropertyValues("distributed-lock.zookeeper.root=/own", "distributed-lock.zookeeper.namespace=apps",
					"distributed-lock.zookeeper.session-timeout=7s")
			.run((context) -> {
				assertThat(context).hasNotFailed().doesNotHaveBean(CuratorFramework.class);
				assertThat(context.getBean(ZooKeeperLockClient.class)
					.client()
					.getZookeeperClient()
					.getZooKeeper()
					.getSessionTimeout()).isEqualTo(7000);
				assertLocksIn("/apps/own", context);
			});
	}

	@Test
	void connectionDetailsOverrideTheProperties() {
		this.bare
			.withPropertyValues("distributed-lock.zookeeper.connect-string=127.0.0.1:1",
					"distributed-lock.zookeeper.root=/details")
			.withBean(ZooKeeperConnectionDetails.class, () -> TestZooKeeper::connectString)
			.run((context) -> assertLocksIn("/details", context));
	}

	@Test
	void customizerOverridesTheProperties() {
		this.runner
			.withPropertyValues("distributed-lock.zookeeper.root=/custom",
					"distributed-lock.zookeeper.session-timeout=7s")
			.withBean(LockCuratorCustomizer.class, () -> (builder) -> builder.sessionTimeoutMs(9000))
			.run((context) -> assertThat(context.getBean(ZooKeeperLockClient.class)
				.client()
				.getZookeeperClient()
				.getZooKeeper()
				.getSessionTimeout()).isEqualTo(9000));
	}

	@Test
	void applicationsClientIsUsedAndLeftOpen() {
		try (CuratorFramework application = client()) {
			this.bare.withPropertyValues("distributed-lock.zookeeper.root=/shared")
				.withBean(CuratorFramework.class, () -> application,
						(definition) -> definition.setDestroyMethodName(""))
				.run((context) -> {
					assertThat(context).doesNotHaveBean(ZooKeeperLockClient.class);
					assertLocksIn("/shared", context);
				});
			assertThat(application.getState()).isEqualTo(CuratorFrameworkState.STARTED);
			assertThat(application.getZookeeperClient().isConnected()).isTrue();
		}
	}

	@Test
	void serversOfThePropertiesArePreferredToTheApplicationsClient() {
		CuratorFramework application = CuratorFrameworkFactory.newClient("127.0.0.1:1", new RetryOneTime(1));
		this.runner.withPropertyValues("distributed-lock.zookeeper.root=/preferred")
			.withBean(CuratorFramework.class, () -> application)
			.run((context) -> {
				assertThat(context).hasSingleBean(ZooKeeperLockClient.class);
				assertLocksIn("/preferred", context);
			});
		try (CuratorFramework used = client()) {
			this.bare
				.withPropertyValues("distributed-lock.zookeeper.root=/blank",
						"distributed-lock.zookeeper.connect-string= ")
				.withBean(CuratorFramework.class, () -> used, (definition) -> definition.setDestroyMethodName(""))
				.run((context) -> assertLocksIn("/blank", context));
		}
	}

	@Test
	void nodesBelongToTheirCreatorWithAclCreator() {
		this.runner
			.withPropertyValues("distributed-lock.zookeeper.root=/guarded", "distributed-lock.zookeeper.acl=creator",
					"distributed-lock.zookeeper.auth.credentials=locks:secret")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				LockOperations locks = context.getBean(LockOperations.class);
				locks.acquire(LockRequest.of(LockKey.of("orders"))).close();
				try (CuratorFramework stranger = client()) {
					assertThatExceptionOfType(KeeperException.NoAuthException.class)
						.isThrownBy(() -> stranger.getChildren().forPath("/guarded"));
				}
				this.runner.withPropertyValues("distributed-lock.zookeeper.root=/guarded")
					.run((other) -> assertThatExceptionOfType(LockException.class)
						.isThrownBy(
								() -> other.getBean(LockOperations.class).acquire(LockRequest.of(LockKey.of("orders"))))
						.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED)));
			});
	}

	@Test
	void aclCreatorWithoutAnIdentityFailsTheStart() {
		ApplicationContextRunner creator = this.bare.withPropertyValues("distributed-lock.zookeeper.acl=creator",
				"distributed-lock.zookeeper.connection-timeout=1m");
		creator
			.withPropertyValues("distributed-lock.zookeeper.root=/anonymous",
					"distributed-lock.zookeeper.connect-string=" + TestZooKeeper.connectString())
			.run(ZooKeeperLockAutoConfigurationTests::assertAclFailed);
		creator.withPropertyValues("distributed-lock.zookeeper.root=/anonymous-application")
			.withBean(CuratorFramework.class, ZooKeeperLockAutoConfigurationTests::connectedClient)
			.run(ZooKeeperLockAutoConfigurationTests::assertAclFailed);
	}

	private static void assertAclFailed(AssertableApplicationContext context) {
		assertThat(context).hasFailed();
		assertThat(failure(context.getStartupFailure())).isInstanceOf(LockConfigurationException.class)
			.hasMessageContaining("distributed-lock.zookeeper.acl=creator")
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.INVALID_PROPERTY));
	}

	private static CuratorFramework connectedClient() {
		return connected(TestZooKeeper.connectString());
	}

	private static CuratorFramework connected(String servers) {
		CuratorFramework client = CuratorFrameworkFactory.newClient(servers, new RetryOneTime(1));
		client.start();
		try {
			assertThat(client.blockUntilConnected(1, TimeUnit.MINUTES)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		return client;
	}

	@Test
	void serverThatIsTooOldFailsTheStart() {
		this.bare
			.withPropertyValues("distributed-lock.zookeeper.connect-string=" + OldZooKeeper.connectString(),
					"distributed-lock.zookeeper.connection-timeout=1m")
			.run(ZooKeeperLockAutoConfigurationTests::assertTooOld);
		ApplicationContextRunner application = this.bare.withBean(CuratorFramework.class,
				() -> connected(OldZooKeeper.connectString()));
		application.run(ZooKeeperLockAutoConfigurationTests::assertTooOld);
		application.withPropertyValues("distributed-lock.provider=local")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	private static void assertTooOld(AssertableApplicationContext context) {
		assertThat(context).hasFailed();
		assertThat(failure(context.getStartupFailure())).isInstanceOf(LockConfigurationException.class)
			.hasMessageContaining("needs ZooKeeper 3.6 or later")
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_TOO_OLD));
	}

	@Test
	void serverThatDemandsAuthenticationIsReportedAtStartAndToCallers(CapturedOutput output) {
		ApplicationContextRunner demanding = this.bare.withPropertyValues(
				"distributed-lock.zookeeper.connect-string=" + TestZooKeeper.connectStringWithAuthentication(),
				"distributed-lock.zookeeper.connection-timeout=1m");
		demanding.run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("DL-305: Lock store 'zookeeper' refuses this client").doesNotContain("DL-302");
			assertThatExceptionOfType(LockException.class)
				.isThrownBy(() -> context.getBean(LockOperations.class)
					.acquire(LockRequest.of(LockKey.of("orders")).withWaitTime(Duration.ofMinutes(1))))
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED));
		});
		demanding.withPropertyValues("distributed-lock.zookeeper.auth.credentials=locks:secret")
			.run((context) -> context.getBean(LockOperations.class)
				.acquire(LockRequest.of(LockKey.of("orders")))
				.close());
	}

	@Test
	void ensembleThatIsDownOnlyWarnsWithoutFailFast(CapturedOutput output) {
		ApplicationContextRunner down = this.bare.withPropertyValues(
				"distributed-lock.zookeeper.connect-string=127.0.0.1:1",
				"distributed-lock.zookeeper.connection-timeout=500ms", "distributed-lock.call-timeout=1s");
		down.run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).containsOnlyOnce("The lock store 'zookeeper' did not answer at start");
			LockOperations locks = context.getBean(LockOperations.class);
			assertThatExceptionOfType(LockException.class)
				.isThrownBy(() -> locks.acquire(LockRequest.of(LockKey.of("orders"))))
				.satisfies((ex) -> assertThat(ex.error()).isIn(LockError.STORE_FAILED, LockError.STORE_TIMEOUT));
		});
		down.withPropertyValues("distributed-lock.fail-fast=true").run((context) -> {
			assertThat(context).hasFailed();
			assertThat(failure(context.getStartupFailure()).error()).isEqualTo(LockError.STORE_DOWN_AT_START);
		});
	}

	@Test
	void newerFormatFailsTheStart() throws Exception {
		try (CuratorFramework admin = client()) {
			admin.create().withACL(List.copyOf(ZooDefs.Ids.OPEN_ACL_UNSAFE)).forPath("/newer", "2".getBytes());
		}
		this.runner.withPropertyValues("distributed-lock.zookeeper.root=/newer").run((context) -> {
			assertThat(context).hasFailed();
			assertThat(failure(context.getStartupFailure()).error()).isEqualTo(LockError.NEWER_FORMAT);
		});
	}

	@Test
	void leaseShorterThanTheSessionLogsAWarning(CapturedOutput output) {
		this.runner.withPropertyValues("distributed-lock.lease=3s").run((context) -> {
			context.getBean(LockOperations.class).acquire(LockRequest.of(LockKey.of("orders"))).close();
			assertThat(output).contains("lease of 3000 ms")
				.contains("time-out of 20000 ms. Shorten distributed-lock.zookeeper.session-timeout");
		});
		int warned = output.length();
		this.runner.withPropertyValues("distributed-lock.lease=3s", "distributed-lock.zookeeper.session-timeout=3s")
			.run((context) -> {
				context.getBean(LockOperations.class).acquire(LockRequest.of(LockKey.of("orders"))).close();
				assertThat(output.toString().substring(warned)).doesNotContain("DL-627");
			});
	}

	@Test
	void invalidPropertiesFailTheStart() {
		for (String property : new String[] { "distributed-lock.zookeeper.session-timeout=0",
				"distributed-lock.zookeeper.connection-timeout=-1s", "distributed-lock.zookeeper.root=locks",
				"distributed-lock.zookeeper.root=/" }) {
			this.runner.withPropertyValues(property).run((context) -> {
				assertThat(context).hasFailed();
				assertThat(failure(context.getStartupFailure())).isInstanceOf(LockConfigurationException.class)
					.hasMessageContaining(property.substring(0, property.indexOf('=')));
			});
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					zookeeper.acl=creator,zookeeper.root=/named | Set distributed-lock.zookeeper.auth.scheme | zookeeper.auth.credentials=locks:secret
					zookeeper.auth.scheme=unknown,zookeeper.auth.credentials=locks:secret | distributed-lock.zookeeper.auth, | zookeeper.auth.scheme=digest
					zookeeper.session-timeout=0 | zookeeper.session-timeout | zookeeper.session-timeout=9s
					zookeeper.connection-timeout=0 | zookeeper.connection-timeout | zookeeper.connection-timeout=1m
					""")
	void propertyThatAMessageNamesRemovesIt(String setUp, String message, String remedy, CapturedOutput output) {
		NamedPropertyTests.assertRemoved(this.runner, setUp, message, remedy, output);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					zookeeper.root=/ | The property distributed-lock.zookeeper.root is | zookeeper.root=/named-root
					zookeeper.acl=creator,zookeeper.root=/named-open | or set distributed-lock.zookeeper.acl=open | zookeeper.acl=open
					""")
	void propertyThatAMessageNamesRemovesItForEitherClient(String setUp, String message, String remedy,
			CapturedOutput output) {
		NamedPropertyTests.assertRemoved(this.runner, setUp, message, remedy, output);
		NamedPropertyTests.assertRemoved(
				this.bare.withBean(CuratorFramework.class, ZooKeeperLockAutoConfigurationTests::connectedClient), setUp,
				message, remedy, output);
	}

	@Test
	void refusedCredentialsOfTheApplicationsClientAreItsOwn(CapturedOutput output) {
		ApplicationContextRunner refused = this.bare.withBean(CuratorFramework.class, () -> {
			CuratorFramework client = CuratorFrameworkFactory.builder()
				.connectString(TestZooKeeper.connectString())
				.retryPolicy(new RetryOneTime(1))
				.authorization("unknown", "locks:secret".getBytes())
				.build();
			client.start();
			return client;
		});
		refused.withPropertyValues("distributed-lock.zookeeper.auth.credentials=locks:secret")
			.run((context) -> assertThat(output)
				.contains("or for a CuratorFramework of the application its authorization"));
	}

	@Test
	void severalClientsWithoutAPrimaryOneAreRefused() {
		this.bare.withUserConfiguration(TwoClients.class).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(failure(context.getStartupFailure())).hasMessageContaining("several CuratorFramework");
		});
	}

	@Test
	void backsOffForAnotherProviderAndWithoutZooKeeper() {
		this.runner.withPropertyValues("distributed-lock.provider=local")
			.run((context) -> assertThat(context).hasSingleBean(LocalLockProvider.class)
				.doesNotHaveBean(ZooKeeperLockProvider.class));
		ApplicationContextRunner alone = new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(ZooKeeperLockAutoConfiguration.class));
		alone.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LockProvider.class));
		alone.withPropertyValues("distributed-lock.zookeeper.connect-string=" + TestZooKeeper.connectString())
			.withClassLoader(new FilteredClassLoader(CuratorFramework.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LockProvider.class));
	}

	@Configuration(proxyBeanMethods = false)
	static class TwoClients {

		@Bean
		CuratorFramework first() {
			return client();
		}

		@Bean
		CuratorFramework second() {
			return client();
		}

	}

	static class KeptJob {

		@ScheduledLock(minHold = "1m")
		void run() {
		}

	}

}
