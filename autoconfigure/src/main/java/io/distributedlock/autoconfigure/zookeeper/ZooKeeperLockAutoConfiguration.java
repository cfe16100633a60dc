package io.distributedlock.autoconfigure.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.StringUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.autoconfigure.ConditionalOnLockStore;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.autoconfigure.DistributedLockProperties;
import io.distributedlock.autoconfigure.KeyPrefix;
import io.distributedlock.autoconfigure.LockStoreLocation;
import io.distributedlock.autoconfigure.LockTimerConfiguration;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.zookeeper.ZooKeeperLockProvider;
import io.distributedlock.zookeeper.session.ZooKeeperLockSettings;

/**
 * Auto-configuration of locks in ZooKeeper, over the application's
 * {@link CuratorFramework} or a client of the locks' own.
 *
 * @since 0.1.0
 */
@Lazy
@AutoConfiguration(before = DistributedLockAutoConfiguration.class,
		afterName = "org.springframework.cloud.zookeeper.ZookeeperAutoConfiguration")
@ConditionalOnClass({ CuratorFramework.class, ZooKeeper.class })
@ConditionalOnLockStore("zookeeper")
@Conditional(ZooKeeperLockAutoConfiguration.OnEnsemble.class)
@EnableConfigurationProperties({ DistributedLockProperties.class, ZooKeeperLockProperties.class })
@Import(LockTimerConfiguration.class)
public final class ZooKeeperLockAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean({ ZooKeeperLockProvider.class, ZooKeeperLockClient.class })
	@Conditional(OnOwnClient.class)
	ZooKeeperLockClient distributedLockZooKeeperClient(ObjectProvider<ZooKeeperConnectionDetails> details,
			ZooKeeperLockProperties properties, ObjectProvider<SslBundles> bundles,
			ObjectProvider<LockCuratorCustomizer> customizers) {
		ZooKeeperConnectionDetails present = details.getIfAvailable();
		String connectString = (present != null) ? present.getConnectString()
				: Objects.requireNonNull(properties.connectString());
		ZooKeeperSsl ssl = (present != null) ? ZooKeeperSsl.ofDetails(present)
				: ZooKeeperSsl.ofProperty(properties, bundles.getIfAvailable());
		return ZooKeeperLockClient.create(connectString, ssl, properties, customizers.orderedStream().toList());
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
		return new ZooKeeperLockProvider((ownClient != null) ? ownClient.client() : only(clients), settings, timer);
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
				ensemble + "root '" + namespace + properties.root() + "'",
				(ownClient != null) ? properties.connectionTimeout()
						: (client != null) ? Duration.ofMillis(client.getZookeeperClient().getConnectionTimeoutMs())
								: LockStoreLocation.START_TIMEOUT,
				(ownClient != null && ownClient.usesTls()) ? tlsAdvice() : null);
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

	/** Tells how to find the cause of a failed handshake, which the client only logs. */
	private static String tlsAdvice() {
		return "If the servers are up, read the messages of the logger"
				+ " org.apache.zookeeper.ClientCnxnSocketNetty about the handshake over TLS: the port has to be one for"
				+ " TLS, the server's certificate has to be trusted by the SSL bundle and issued for the host's name,"
				+ " and servers that demand a certificate have to trust that of the bundle";
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

		@Conditional(OnConnectString.class)
		static final class ConnectString {

		}

	}

	/**
	 * Condition that the locks get a client of their own: the properties name its
	 * servers, or the application has no client.
	 */
	static final class OnOwnClient extends AnyNestedCondition {

		OnOwnClient() {
			super(ConfigurationPhase.REGISTER_BEAN);
		}

		@ConditionalOnMissingBean(CuratorFramework.class)
		static final class NoClient {

		}

		@Conditional(OnConnectString.class)
		static final class ConnectString {

		}

	}

	/** Condition that the properties name servers; a blank text names none. */
	static final class OnConnectString extends SpringBootCondition {

		private static final String PROPERTY = "distributed-lock.zookeeper.connect-string";

		@Override
		public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
			ConditionMessage.Builder message = ConditionMessage.forCondition("ZooKeeper servers");
			return StringUtils.hasText(context.getEnvironment().getProperty(PROPERTY))
					? ConditionOutcome.match(message.because(PROPERTY + " names them"))
					: ConditionOutcome.noMatch(message.because(PROPERTY + " is not set"));
		}

	}

}
