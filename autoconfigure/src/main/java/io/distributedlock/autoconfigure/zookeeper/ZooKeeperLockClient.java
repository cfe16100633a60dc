package io.distributedlock.autoconfigure.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.List;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

import io.distributedlock.zookeeper.session.LockZookeeperFactory;

/**
 * Curator client that is built for the locks where the application has none. It is not a
 * bean of Curator's type, so that no other bean uses it by accident.
 */
final class ZooKeeperLockClient implements AutoCloseable {

	private final CuratorFramework client;

	private final @Nullable ZooKeeperSsl ssl;

	private ZooKeeperLockClient(CuratorFramework client, @Nullable ZooKeeperSsl ssl) {
		this.client = client;
		this.ssl = ssl;
	}

	/**
	 * Creates a client that its provider starts when it needs a session first.
	 * @param ssl the TLS settings, or {@code null} for none; closed with the client, and
	 * also if it cannot be created
	 */
	static ZooKeeperLockClient create(String connectString, @Nullable ZooKeeperSsl ssl,
			ZooKeeperLockProperties properties, List<LockCuratorCustomizer> customizers) {
		try {
			return new ZooKeeperLockClient(client(connectString, ssl, properties, customizers), ssl);
		}
		catch (RuntimeException ex) {
			if (ssl != null) {
				ssl.close();
			}
			throw ex;
		}
	}

	private static CuratorFramework client(String connectString, @Nullable ZooKeeperSsl ssl,
			ZooKeeperLockProperties properties, List<LockCuratorCustomizer> customizers) {
		// Curator retries nothing and creates no node: no request for a lock goes through
		// its retries, and the namespace is created like any parent of a node.
		CuratorFrameworkFactory.Builder builder = CuratorFrameworkFactory.builder()
			.connectString(connectString)
			.sessionTimeoutMs(Math.toIntExact(properties.sessionTimeout().toMillis()))
			.connectionTimeoutMs(Math.toIntExact(properties.connectionTimeout().toMillis()))
			.retryPolicy(new ExponentialBackoffRetry(100, 3))
			.zookeeperFactory(new LockZookeeperFactory())
			.waitForShutdownTimeoutMs(0)
			// The members may announce addresses that this process cannot reach.
			.ensembleTracker(false);
		if (StringUtils.hasText(properties.namespace())) {
			builder.namespace(properties.namespace());
		}
		String credentials = properties.auth().credentials();
		if (StringUtils.hasText(credentials)) {
			builder.authorization(properties.auth().scheme(), credentials.getBytes(StandardCharsets.UTF_8));
		}
		if (ssl != null) {
			ssl.applyTo(builder);
		}
		customizers.forEach((customizer) -> customizer.customize(builder));
		return builder.build();
	}

	boolean usesTls() {
		return this.ssl != null;
	}

	CuratorFramework client() {
		return this.client;
	}

	@Override
	public void close() {
		this.client.close();
		if (this.ssl != null) {
			this.ssl.close();
		}
	}

}
