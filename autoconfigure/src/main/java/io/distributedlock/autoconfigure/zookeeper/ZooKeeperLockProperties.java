package io.distributedlock.autoconfigure.zookeeper;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.annotation.Lazy;

import io.distributedlock.autoconfigure.DistributedLockProperties;
import io.distributedlock.zookeeper.session.ZooKeeperLockSettings;

/**
 * Configuration properties for locks in ZooKeeper. All but the root and the ACL are for
 * the client that is built where the application has no {@code CuratorFramework}, or
 * where the connect string names the servers.
 *
 * @param connectString Comma-separated list of the servers of the ensemble, host and port
 * each. It has precedence over the application's 'CuratorFramework'.
 * @param sessionTimeout Time for which the ensemble keeps the locks of a process that
 * sends no heartbeat; the servers may change it to between 2 and 20 of their ticks.
 * @param connectionTimeout Longest wait for the first connection.
 * @param namespace Curator's namespace: a node above the root.
 * @param root Node under which the locks are kept.
 * @param acl ACL of the nodes. With 'creator' the client has to authenticate.
 * @param auth Credentials of the client.
 * @param ssl TLS settings.
 * @since 0.1.0
 */
@Lazy
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

	/** ACL of the nodes. */
	public enum Acl {

		/** All permissions for every client (OPEN_ACL_UNSAFE). */
		OPEN,
		/** All permissions for the creator's identity (CREATOR_ALL_ACL). */
		CREATOR

	}

	/**
	 * Credentials of the client.
	 *
	 * @param scheme Scheme of the credentials, such as 'digest'.
	 * @param credentials Credentials of the scheme, such as 'user:password'.
	 */
	public record Auth(@DefaultValue("digest") String scheme, @Nullable String credentials) {

		/** Contains no credentials. */
		@Override
		public String toString() {
			return "Auth[scheme=" + this.scheme + "]";
		}

	}

	/**
	 * TLS settings.
	 *
	 * @param bundle SSL bundle name; without one connections are not encrypted.
	 */
	public record Ssl(@Nullable String bundle) {
	}

}
