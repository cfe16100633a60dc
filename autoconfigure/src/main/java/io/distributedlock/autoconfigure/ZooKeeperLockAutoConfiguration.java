package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.zookeeper.ZooKeeperLockProvider;
import io.distributedlock.zookeeper.ZooKeeperLockSettings;

/**
 * Auto-configuration of locks in ZooKeeper, over the application's
 * {@link CuratorFramework} or a client of the locks' own.
 *
 * @since 0.1.0
 */
@AutoConfiguration(before = DistributedLockAutoConfiguration.class,
		afterName = "org.springframework.cloud.zookeeper.ZookeeperAutoConfiguration")
@ConditionalOnClass({ CuratorFramework.class, ZooKeeper.class })
@ConditionalOnLockStore("zookeeper")
@Conditional(ZooKeeperLockAutoConfiguration.OnEnsemble.class)
@EnableConfigurationProperties({ DistributedLockProperties.class, ZooKeeperLockProperties.class })
@Import(LockTimerConfiguration.class)
public final class ZooKeeperLockAutoConfiguration {

	private static final Log logger = LogFactory.getLog(ZooKeeperLockAutoConfiguration.class);

	private static final Duration START_TIMEOUT = Duration.ofSeconds(3);

	@Bean
	@ConditionalOnMissingBean({ CuratorFramework.class, ZooKeeperLockProvider.class })
	ZooKeeperLockClient distributedLockZooKeeperClient(ObjectProvider<ZooKeeperConnectionDetails> details,
			ZooKeeperLockProperties properties, ObjectProvider<SslBundles> bundles,
			ObjectProvider<LockCuratorCustomizer> customizers) {
		ZooKeeperConnectionDetails present = details.getIfAvailable();
		String connectString = (present != null) ? present.getConnectString()
				: Objects.requireNonNull(properties.connectString());
		ZooKeeperSsl ssl = (present != null) ? ZooKeeperSsl.ofDetails(present)
				: ZooKeeperSsl.ofProperty(properties, bundles.getIfAvailable());
		return ZooKeeperLockClient.start(connectString, ssl, properties, acl(properties),
				customizers.orderedStream().toList());
	}

	@Bean
	@ConditionalOnMissingBean
	ZooKeeperLockProvider distributedLockZooKeeperProvider(ObjectProvider<CuratorFramework> clients,
			ObjectProvider<ZooKeeperLockClient> own, ZooKeeperLockProperties properties,
			DistributedLockProperties general, LockTimer timer, Environment environment) {
		ZooKeeperLockClient ownClient = own.getIfAvailable();
		ZooKeeperLockSettings settings = new ZooKeeperLockSettings(properties.root(),
				KeyPrefix.of(general, environment, "ensemble"), acl(properties),
				(ownClient != null) ? general.callTimeout() : null);
		ZooKeeperLockProvider provider = new ZooKeeperLockProvider(
				(ownClient != null) ? ownClient.client() : only(clients), settings, timer);
		try {
			awaitFirst(provider, (ownClient != null) ? properties.connectionTimeout() : START_TIMEOUT,
					ownClient != null && ownClient.usesTls(), general.failFast());
		}
		catch (LockConfigurationException ex) {
			provider.close();
			throw ex;
		}
		return provider;
	}

	@Bean
	@ConditionalOnBean(name = "distributedLockZooKeeperProvider")
	LockStoreLocation distributedLockZooKeeperLocation(ObjectProvider<CuratorFramework> clients,
			ObjectProvider<ZooKeeperLockClient> own, ZooKeeperLockProperties properties,
			DistributedLockProperties general, Environment environment) {
		ZooKeeperLockClient ownClient = own.getIfAvailable();
		CuratorFramework client = (ownClient != null) ? ownClient.client() : clients.getIfUnique();
		String namespace = (client != null && !client.getNamespace().isEmpty()) ? "/" + client.getNamespace() : "";
		String ensemble = (client != null)
				? "ensemble " + client.getZookeeperClient().getCurrentConnectionString() + ", " : "";
		return new LockStoreLocation("zookeeper", KeyPrefix.text(general, environment),
				ensemble + "root '" + namespace + properties.root() + "'");
	}

	private static CuratorFramework only(ObjectProvider<CuratorFramework> clients) {
		CuratorFramework client = clients.getIfUnique();
		if (client == null) {
			throw new LockConfigurationException(LockError.SEVERAL_PROVIDERS,
					"There are several CuratorFramework beans, none of them primary,"
							+ " so that the ensemble of the locks is not clear",
					"Make one @Primary, or define a ZooKeeperLockProvider");
		}
		return client;
	}

	private static List<ACL> acl(ZooKeeperLockProperties properties) {
		return switch (properties.acl()) {
			case OPEN -> ZooDefs.Ids.OPEN_ACL_UNSAFE;
			case CREATOR -> ZooDefs.Ids.CREATOR_ALL_ACL;
		};
	}

	/**
	 * Waits for the first connection, which takes longer than a round trip. The check of
	 * all stores reports an ensemble that is down.
	 */
	private static void awaitFirst(ZooKeeperLockProvider provider, Duration timeout, boolean tls, boolean failFast) {
		try {
			provider.check(timeout);
		}
		catch (LockConfigurationException ex) {
			throw ex;
		}
		catch (LockException ex) {
			logger.debug("The ensemble does not answer at start", ex);
			if (tls && ex.error() == LockError.STORE_TIMEOUT) {
				reportTls(ex, failFast);
			}
		}
	}

	/**
	 * Reports how to find the cause of a failed handshake, which the client only logs.
	 */
	private static void reportTls(LockException ex, boolean failFast) {
		String problem = "The lock store 'zookeeper' did not answer over TLS at start: " + ex.getMessage();
		String action = "If the servers are up, read the messages of the logger"
				+ " org.apache.zookeeper.ClientCnxnSocketNetty about the handshake: the port has to be one for TLS, the"
				+ " server's certificate has to be trusted by the SSL bundle and issued for the host's name, and servers"
				+ " that demand a certificate have to trust that of the bundle";
		if (failFast) {
			throw new LockConfigurationException(LockError.STORE_DOWN_AT_START, problem, action, ex);
		}
		// The check of all stores warns.
		logger.info(action);
	}

	/** Condition that an ensemble is configured. */
	static final class OnEnsemble extends AnyNestedCondition {

		OnEnsemble() {
			super(ConfigurationPhase.REGISTER_BEAN);
		}

		@ConditionalOnBean(CuratorFramework.class)
		static final class Client {

		}

		@ConditionalOnBean(ZooKeeperConnectionDetails.class)
		static final class Details {

		}

		@ConditionalOnProperty(prefix = "distributed-lock.zookeeper", name = "connect-string")
		static final class ConnectString {

		}

	}

}
