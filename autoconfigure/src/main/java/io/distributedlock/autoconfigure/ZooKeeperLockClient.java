package io.distributedlock.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.util.List;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.data.ACL;

import org.springframework.util.StringUtils;

/**
 * The client of the locks' own, where the application has none. Not a bean of Curator's
 * type, so that nothing else uses it by accident.
 */
final class ZooKeeperLockClient implements AutoCloseable {

	private final CuratorFramework client;

	private ZooKeeperLockClient(CuratorFramework client) {
		this.client = client;
	}

	static ZooKeeperLockClient start(String connectString, ZooKeeperLockProperties properties, List<ACL> acl,
			List<LockCuratorCustomizer> customizers) {
		// What is retried is Curator's own reading of the ensemble's members: locks are
		// asked for without it.
		CuratorFrameworkFactory.Builder builder = CuratorFrameworkFactory.builder()
			.connectString(connectString)
			.sessionTimeoutMs(Math.toIntExact(properties.sessionTimeout().toMillis()))
			.connectionTimeoutMs(Math.toIntExact(properties.connectionTimeout().toMillis()))
			.retryPolicy(new ExponentialBackoffRetry(100, 3))
			.waitForShutdownTimeoutMs(0);
		if (StringUtils.hasText(properties.namespace())) {
			builder.namespace(properties.namespace());
		}
		String credentials = properties.auth().credentials();
		if (StringUtils.hasText(credentials)) {
			builder.authorization(properties.auth().scheme(), credentials.getBytes(StandardCharsets.UTF_8));
		}
		if (!acl.isEmpty()) {
			builder.aclProvider(new SameAcl(acl));
		}
		customizers.forEach((customizer) -> customizer.customize(builder));
		CuratorFramework client = builder.build();
		client.start();
		return new ZooKeeperLockClient(client);
	}

	CuratorFramework client() {
		return this.client;
	}

	@Override
	public void close() {
		this.client.close();
	}

	private record SameAcl(List<ACL> acl) implements ACLProvider {

		@Override
		public List<ACL> getDefaultAcl() {
			return this.acl;
		}

		@Override
		public List<ACL> getAclForPath(String path) {
			return this.acl;
		}

	}

}
