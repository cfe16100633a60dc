package io.distributedlock.autoconfigure.zookeeper;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.ClientInfo;
import org.apache.zookeeper.data.Id;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundleRegistry;
import org.springframework.boot.ssl.SslStoreBundle;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;

import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.autoconfigure.LockUser;
import io.distributedlock.autoconfigure.zookeeper.ZooKeeperLockProperties.Acl;
import io.distributedlock.autoconfigure.zookeeper.ZooKeeperLockProperties.Auth;
import io.distributedlock.autoconfigure.zookeeper.ZooKeeperLockProperties.Ssl;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.TimeBounds;
import io.distributedlock.testkit.WireFault;
import io.distributedlock.testkit.WireFault.Effect;
import io.distributedlock.zookeeper.TestCertificates;
import io.distributedlock.zookeeper.TlsZooKeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

@ExtendWith(OutputCaptureExtension.class)
@Tag("full")
class ZooKeeperSslTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	private static final LockRequest REQUEST = LockRequest.of(KEY);

	/** The first handshake of a JVM is slow. */
	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final ApplicationContextRunner bare = new ApplicationContextRunner().withBean(LockUser.class)
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, ZooKeeperLockAutoConfiguration.class,
				DistributedLockAutoConfiguration.class))
		.withPropertyValues("spring.application.name=shop", "distributed-lock.fail-fast=true",
				"distributed-lock.zookeeper.connection-timeout=20s", "distributed-lock.call-timeout=10s");

	private final ApplicationContextRunner secure = this.bare.withPropertyValues(
			"distributed-lock.zookeeper.connect-string=" + TlsZooKeeper.connectString(),
			"distributed-lock.zookeeper.ssl.bundle=ensemble");

	private final ApplicationContextRunner trusting = this.secure.withPropertyValues(trust("server"));

	private final ApplicationContextRunner known = this.trusting.withPropertyValues(
			"spring.ssl.bundle.jks.ensemble.keystore.location=file:" + TestCertificates.keyStore("client"),
			"spring.ssl.bundle.jks.ensemble.keystore.password=" + TestCertificates.PASSWORD);

	private static String[] trust(String owner) {
		return new String[] {
				"spring.ssl.bundle.jks.ensemble.truststore.location=file:" + TestCertificates.trustStore(owner),
				"spring.ssl.bundle.jks.ensemble.truststore.password=" + TestCertificates.PASSWORD };
	}

	private static SslBundle bundle(String owner, String trusted) {
		return SslBundle.of(SslStoreBundle.of(TestCertificates.load(owner), TestCertificates.PASSWORD,
				TestCertificates.trusting(trusted)));
	}

	private static LockException failure(Throwable thrown) {
		Throwable failure = thrown;
		while (!(failure instanceof LockException)) {
			failure = failure.getCause();
		}
		return (LockException) failure;
	}

	private static void assertFails(ApplicationContext context, LockError error, String... words) {
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> context.getBean(LockOperations.class))
			.satisfies((ex) -> {
				LockException failure = failure(ex);
				assertThat(failure.error()).isEqualTo(error);
				assertThat(failure).hasMessageContainingAll(words);
			});
	}

	private static void assertLocks(ApplicationContext context) {
		try (LockLease lease = context.getBean(LockOperations.class).acquire(REQUEST)) {
			lease.ensureHeld();
		}
	}

	/** Asks until the store answers in time. */
	private static void assertLocksAgain(ApplicationContext context) {
		await().atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(LockException.class)
			.untilAsserted(() -> assertLocks(context));
	}

	private static CuratorFramework client(ApplicationContext context) {
		return context.getBean(ZooKeeperLockClient.class).client();
	}

	private static ZKClientConfig config(ApplicationContext context) throws Exception {
		return client(context).getZookeeperClient().getZooKeeper().getClientConfig();
	}

	private static String[] identities(ApplicationContext context) throws Exception {
		return client(context).getZookeeperClient()
			.getZooKeeper()
			.whoAmI()
			.stream()
			.filter((info) -> info.getAuthScheme().equals("x509"))
			.map(ClientInfo::getUser)
			.toArray(String[]::new);
	}

	private static ZooKeeperLockClient start(@Nullable ZooKeeperSsl ssl) {
		ZooKeeperLockProperties properties = new ZooKeeperLockProperties(null, Duration.ofSeconds(20),
				Duration.ofSeconds(5), null, "/locks", Acl.OPEN, new Auth("digest", null), new Ssl(null));
		ZooKeeperLockClient client = ZooKeeperLockClient.create(TlsZooKeeper.connectString(), ssl, properties,
				List.of(TlsZooKeeper::hasten));
		client.client().start();
		return client;
	}

	private static @Nullable ZooKeeperSsl tls(@Nullable String owner) {
		KeyStore keys = (owner != null) ? TestCertificates.load(owner) : null;
		return ZooKeeperSsl.ofDetails(new Details(
				SslBundle.of(SslStoreBundle.of(keys, TestCertificates.PASSWORD, TestCertificates.trusting("server")))));
	}

	private static boolean isConnected(ZooKeeperLockClient client) {
		return client.client().getZookeeperClient().isConnected();
	}

	@Test
	void locksWorkOverTlsWithoutAClientCertificate() {
		this.trusting.run((context) -> {
			assertLocks(context);
			assertThat(identities(context)).isEmpty();
		});
	}

	@Test
	void membersAtPortsWithoutTlsAreNotUsed() {
		this.trusting.run((context) -> {
			assertThat(new String(client(context).getConfig().forEnsemble(), StandardCharsets.UTF_8))
				.contains("server.1=127.0.0.1");
			await().during(Duration.ofMillis(300))
				.until(() -> client(context).getZookeeperClient().getCurrentConnectionString(),
						TlsZooKeeper.connectString()::equals);
		});
	}

	@Test
	void serverAcceptsOnlyTlsWithItsDemandedCertificate() {
		TlsZooKeeper.demandCertificates(true);
		ZooKeeperLockClient known = start(tls("client"));
		List<ZooKeeperLockClient> others = List.of(start(null), start(tls(null)), start(tls("stranger")));
		try {
			await().atMost(PATIENCE).until(() -> isConnected(known));
			await().during(Duration.ofMillis(500))
				.until(() -> others.stream().noneMatch(ZooKeeperSslTests::isConnected));
		}
		finally {
			TlsZooKeeper.demandCertificates(false);
			Stream.concat(Stream.of(known), others.stream())
				.map((client) -> CompletableFuture.runAsync(client::close, (work) -> new Thread(work).start()))
				.toList()
				.forEach(CompletableFuture::join);
		}
	}

	@Test
	void filesAreOwnerOnlyAndDeletedWithTheContext() {
		Path[] file = new Path[1];
		this.known.run((context) -> {
			file[0] = Path.of(config(context).getProperty("zookeeper.ssl.keyStore.location"));
			assertThat(file[0]).exists();
			assertThat(Files.getPosixFilePermissions(file[0].getParent()))
				.isEqualTo(PosixFilePermissions.fromString("rwx------"));
		});
		assertThat(file[0].getParent()).doesNotExist();
	}

	@Test
	void nodesBelongToTheClientCertificate() {
		TlsZooKeeper.demandCertificates(true);
		try {
			this.known
				.withPropertyValues("distributed-lock.zookeeper.acl=creator", "distributed-lock.zookeeper.root=/mutual")
				.run((context) -> {
					assertLocks(context);
					assertThat(client(context).getACL().forPath("/mutual"))
						.containsExactly(new ACL(ZooDefs.Perms.ALL, new Id("x509", "CN=client")));
				});
		}
		finally {
			TlsZooKeeper.demandCertificates(false);
		}
	}

	@Test
	void serverThatIsNotTrustedFailsTheStart(CapturedOutput output) {
		this.secure.withPropertyValues("distributed-lock.zookeeper.connection-timeout=5s")
			.withPropertyValues(trust("stranger"))
			.withBean(LockCuratorCustomizer.class, () -> TlsZooKeeper::hasten)
			.run((context) -> {
				assertFails(context, LockError.STORE_DOWN_AT_START, "over TLS", "ClientCnxnSocketNetty", "trusted");
				assertThat(output).contains("ClientCnxnSocketNetty")
					.contains("unable to find valid certification path");
			});
	}

	@Test
	void nextConnectionUsesTheCertificateOfAReload(CapturedOutput output) {
		this.known.withBean(LockCuratorCustomizer.class, () -> TlsZooKeeper::hasten).run((context) -> {
			assertThat(identities(context)).containsExactly("CN=client");
			SslBundleRegistry registry = context.getBean(SslBundleRegistry.class);
			registry.updateBundle("ensemble", bundle("renewed", "server"));
			registry.updateBundle("ensemble", SslBundle
				.of(SslStoreBundle.of(TestCertificates.trusting("server"), null, TestCertificates.trusting("server"))));
			assertThat(output).contains("'ensemble', but its update cannot be used");
			assertThat(identities(context)).containsExactly("CN=client");
			TlsZooKeeper.killConnections();
			await().atMost(PATIENCE)
				.ignoreExceptions()
				.untilAsserted(() -> assertThat(identities(context)).containsExactly("CN=renewed"));
			assertLocks(context);
		});
	}

	@Test
	void bundleOfTheConnectionDetailsReplacesTheProperty() {
		this.bare
			.withPropertyValues("distributed-lock.zookeeper.connect-string=127.0.0.1:1",
					"distributed-lock.zookeeper.ssl.bundle=unknown")
			.withBean(ZooKeeperConnectionDetails.class, () -> new Details(bundle("client", "server")))
			.run((context) -> {
				assertLocks(context);
				assertThat(identities(context)).containsExactly("CN=client");
			});
	}

	@Test
	void optionsOfTheBundleApplyToTheClient() {
		this.trusting
			.withPropertyValues(
					"spring.ssl.bundle.jks.ensemble.options.ciphers=TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
					"spring.ssl.bundle.jks.ensemble.options.enabled-protocols=TLSv1.2",
					"spring.ssl.bundle.jks.ensemble.protocol=TLSv1.2")
			.run((context) -> {
				assertLocks(context);
				assertThat(config(context).getProperty("zookeeper.ssl.ciphersuites"))
					.isEqualTo("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384");
				assertThat(config(context).getProperty("zookeeper.ssl.enabledProtocols")).isEqualTo("TLSv1.2");
				assertThat(config(context).getProperty("zookeeper.ssl.protocol")).isEqualTo("TLSv1.2");
			});
	}

	@Test
	void bundleThatCannotBeUsedFailsTheStart() {
		this.trusting.withPropertyValues("distributed-lock.zookeeper.ssl.bundle=unknown")
			.run((context) -> assertFails(context, LockError.INVALID_PROPERTY, "distributed-lock.zookeeper.ssl.bundle",
					"'unknown'", "[ensemble]"));
		this.known.withPropertyValues("spring.ssl.bundle.jks.ensemble.key.alias=missing")
			.run((context) -> assertFails(context, LockError.INVALID_PROPERTY, "distributed-lock.zookeeper.ssl.bundle",
					"'ensemble'", "'missing'", "[client]"));
		this.known.withPropertyValues("spring.ssl.bundle.jks.ensemble.keystore.password=wrong")
			.run((context) -> assertFails(context, LockError.INVALID_PROPERTY, "distributed-lock.zookeeper.ssl.bundle",
					"'ensemble'", "key store"));
		this.trusting.withClassLoader(new FilteredClassLoader("io.netty"))
			.run((context) -> assertFails(context, LockError.INVALID_PROPERTY, "distributed-lock.zookeeper.ssl.bundle",
					"netty-handler"));
	}

	@Test
	void customizerOverridesTheBundle() {
		this.bare
			.withPropertyValues("distributed-lock.zookeeper.ssl.bundle=ensemble",
					"distributed-lock.zookeeper.connect-string=127.0.0.1:1", "distributed-lock.fail-fast=false",
					"distributed-lock.zookeeper.connection-timeout=100ms")
			.withPropertyValues(trust("server"))
			.withBean(LockCuratorCustomizer.class,
					() -> (builder) -> customize(builder.connectString(TlsZooKeeper.connectString())))
			.run((context) -> {
				assertLocks(context);
				assertThat(config(context).getProperty("customized")).isEqualTo("true");
			});
	}

	private static void customize(CuratorFrameworkFactory.Builder builder) {
		builder.getZkClientConfig().setProperty("customized", "true");
	}

	private static int queueNodes(ApplicationContext context) throws Exception {
		return client(context).getZookeeperClient().getZooKeeper().getAllChildrenNumber("/distributed-lock/queues");
	}

	@Test
	void releasedLockIsGrantedToTheWaiter() {
		// A machine that stalls is late, but not each time.
		this.trusting.run((first) -> this.trusting.run((second) -> await().pollDelay(Duration.ZERO)
			.atMost(PATIENCE)
			.until(() -> isGrantedInTime(first, second))));
	}

	private static boolean isGrantedInTime(ApplicationContext first, ApplicationContext second) throws Exception {
		CompletableFuture<Long> next;
		long released;
		try (LockLease held = first.getBean(LockOperations.class).acquire(REQUEST)) {
			int nodes = queueNodes(first);
			next = second.getBean(LockOperations.class)
				.acquireAsync(REQUEST.withWaitTime(Duration.ofSeconds(10)))
				.toCompletableFuture()
				.thenApply((lease) -> {
					long granted = System.nanoTime();
					lease.ensureHeld();
					lease.close();
					return granted;
				});
			await().until(() -> queueNodes(first) > nodes);
			assertThat(next).isNotDone();
			held.ensureHeld();
			released = System.nanoTime();
		}
		return Duration.ofNanos(next.get(10, TimeUnit.SECONDS) - released).compareTo(TimeBounds.withLoad(900)) < 0;
	}

	@Test
	void silentConnectionIsDroppedAndTheSessionSurvives() throws Exception {
		try (TcpProxy proxy = new TcpProxy(TlsZooKeeper.address())) {
			this.trusting.withBean(LockCuratorCustomizer.class, () -> TlsZooKeeper::hasten)
				.withPropertyValues("distributed-lock.zookeeper.connect-string=127.0.0.1:" + proxy.port(),
						"distributed-lock.zookeeper.session-timeout=30s", "distributed-lock.call-timeout=500ms")
				.run((context) -> {
					assertLocksAgain(context);
					long session = client(context).getZookeeperClient().getZooKeeper().getSessionId();
					WireFault silence = proxy.onRequest((packet) -> true, Effect.BLACK_HOLE).once();
					assertThatExceptionOfType(LockException.class)
						.isThrownBy(() -> context.getBean(LockOperations.class)
							.tryAcquire(LockRequest.of(LockKey.of("asked-once")).withWaitTime(Duration.ZERO)))
						.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_TIMEOUT));
					assertLocksAgain(context);
					assertThat(client(context).getZookeeperClient().getZooKeeper().getSessionId()).isEqualTo(session);
					assertThat(silence.hits()).isEqualTo(1);
				});
		}
	}

	private record Details(SslBundle bundle) implements ZooKeeperConnectionDetails {

		@Override
		public String getConnectString() {
			return TlsZooKeeper.connectString();
		}

		@Override
		public SslBundle getSslBundle() {
			return this.bundle;
		}

	}

}
