package io.distributedlock.autoconfigure;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

import io.distributedlock.zookeeper.ZooKeeperLockSettings;

/**
 * Properties of the locks that are kept in ZooKeeper. All but the root and the ACL are
 * for the client that is built where the application has no {@code CuratorFramework}.
 *
 * @param connectString the servers, host and port each, separated by commas
 * @param sessionTimeout how long the ensemble keeps the locks of a process that it does
 * not hear of; the servers may change it to between 2 and 20 of their ticks
 * @param connectionTimeout how long a first connection may take
 * @param namespace a node that stands before the root, as Curator has it
 * @param root the node under which the locks are kept
 * @param acl who may do what with the nodes
 * @param auth how the client proves who it is
 * @param ssl how the servers are spoken to over TLS
 * @since 0.1.0
 */
@ConfigurationProperties("distributed-lock.zookeeper")
public record ZooKeeperLockProperties(@Nullable String connectString, @DefaultValue("20s") Duration sessionTimeout,
		@DefaultValue("5s") Duration connectionTimeout, @Nullable String namespace,
		@DefaultValue(ZooKeeperLockSettings.DEFAULT_ROOT) String root, @DefaultValue("open") Acl acl,
		@DefaultValue Auth auth, @DefaultValue Ssl ssl) {

	public ZooKeeperLockProperties {
		requireTimeout("session-timeout", sessionTimeout, Duration.ofMillis(200));
		requireTimeout("connection-timeout", connectionTimeout, Duration.ofMillis(1));
	}

	private static void requireTimeout(String name, Duration timeout, Duration least) {
		if (timeout.compareTo(least) < 0 || timeout.compareTo(Duration.ofHours(1)) > 0) {
			throw DistributedLockProperties.invalid("zookeeper." + name, timeout,
					"but must be " + least.toMillis() + " ms to 1 hour", "Leave it unset, or choose some seconds");
		}
	}

	/** Who may do what with the nodes. */
	public enum Acl {

		/** Everybody may do everything. */
		OPEN,
		/** Only who is authenticated as the process that created a node. */
		CREATOR

	}

	/**
	 * How the client proves who it is.
	 *
	 * @param scheme the scheme, such as 'digest'
	 * @param credentials what the scheme takes, such as 'user:password'
	 */
	public record Auth(@DefaultValue("digest") String scheme, @Nullable String credentials) {
	}

	/**
	 * How the servers are spoken to over TLS.
	 *
	 * @param bundle the name of the SSL bundle to use; without one TLS is not used
	 */
	public record Ssl(@Nullable String bundle) {
	}

}
