package io.distributedlock.autoconfigure;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockOperations;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.autoconfigure.redis.RedisQuorumLockAutoConfiguration;
import io.distributedlock.redis.quorum.QuorumServers;
import io.distributedlock.zookeeper.TestCertificates;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A quorum of servers that speak TLS, each with its own bundle. */
@Tag("full")
class RedisQuorumTlsTests {

	private static final String NODE = "distributed-lock.redis.quorum.nodes[";

	private static final LockRequest REQUEST = LockRequest.of(LockKey.of("orders", "42"))
		.withWaitTime(Duration.ofSeconds(60));

	private final QuorumServers servers = new QuorumServers(3, 0);

	private final List<TlsProxy> proxies = new ArrayList<>();

	private ApplicationContextRunner runner;

	@BeforeEach
	void start() throws GeneralSecurityException {
		KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
		keys.init(TestCertificates.load("server"), TestCertificates.PASSWORD.toCharArray());
		SSLContext context = SSLContext.getInstance("TLS");
		context.init(keys.getKeyManagers(), null, null);
		this.servers.ports()
			.forEach((port) -> this.proxies
				.add(new TlsProxy(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), context)));
		this.runner = new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, RedisQuorumLockAutoConfiguration.class,
					DistributedLockAutoConfiguration.class))
			// A new server takes part only after the longest lease.
			.withPropertyValues("spring.application.name=shop", "distributed-lock.redis.quorum.max-lease=2s",
					"distributed-lock.lease=2s", "distributed-lock.call-timeout=10s")
			.withPropertyValues(trust("known", "server"))
			.withPropertyValues(trust("strange", "stranger"));
	}

	@AfterEach
	void close() {
		this.proxies.forEach(TlsProxy::close);
		this.servers.close();
	}

	private static String[] trust(String bundle, String owner) {
		String prefix = "spring.ssl.bundle.jks." + bundle + ".truststore.";
		return new String[] { prefix + "location=file:" + TestCertificates.trustStore(owner),
				prefix + "password=" + TestCertificates.PASSWORD };
	}

	private String[] nodes(String... bundles) {
		List<String> properties = new ArrayList<>();
		for (int index = 0; index < bundles.length; index++) {
			properties.add(NODE + index + "].host=127.0.0.1");
			properties.add(NODE + index + "].port=" + this.proxies.get(index).port());
			properties.add(NODE + index + "].ssl.bundle=" + bundles[index]);
		}
		return properties.toArray(String[]::new);
	}

	@Test
	void majorityThatIsTrustedGrantsLocks() {
		this.runner.withPropertyValues(nodes("known", "strange", "known")).run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			try (LockLease lease = locks.acquire(REQUEST)) {
				lease.ensureHeld();
			}
		});
	}

	@Test
	void majorityThatIsNotTrustedIsAnErrorWithItsReason() {
		this.runner.withPropertyValues(nodes("strange", "known", "strange")).run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			assertThatExceptionOfType(LockProviderException.class)
				.isThrownBy(() -> locks.acquire(REQUEST.withWaitTime(Duration.ofSeconds(1))))
				.satisfies((ex) -> assertThat(ex.getMessage()).contains("valid certification path"));
		});
	}

}
