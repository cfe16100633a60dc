package io.distributedlock.autoconfigure.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.lettuce.core.RedisURI;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Lazy;
import org.springframework.util.StringUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.autoconfigure.DistributedLockProperties;
import io.distributedlock.redis.quorum.RedisQuorumLockProvider;
import io.distributedlock.redis.quorum.RedisQuorumNode;

/**
 * Configuration properties for locks in a quorum of independent Redis servers.
 *
 * @param nodes Servers of the quorum, 3 to 7, each independent of the others. Unset means
 * the one Redis of the application.
 * @param maxLease Longest lease of a lock, the same in all processes. A server that has
 * restarted grants nothing for so long.
 * @since 0.1.0
 */
@Lazy
@ConfigurationProperties("distributed-lock.redis.quorum")
public record RedisQuorumProperties(@DefaultValue List<Node> nodes, @DefaultValue("5m") Duration maxLease) {

	/** Requires that the lease of a lock without one of its own is not too long. */
	void requireAtLeast(Duration lease) {
		if (this.maxLease.compareTo(lease) < 0) {
			throw DistributedLockProperties.invalid("redis.quorum.max-lease", this.maxLease.toMillis() + " ms",
					"but distributed-lock.lease is " + lease.toMillis() + " ms",
					"Set it to the longest lease and the longest minHold of any lock, or higher");
		}
	}

	/** Returns the addresses of the servers. */
	List<RedisQuorumNode> addresses(@Nullable SslBundles bundles) {
		if (this.nodes.size() < RedisQuorumLockProvider.FEWEST_NODES
				|| this.nodes.size() > RedisQuorumLockProvider.MOST_NODES) {
			throw DistributedLockProperties.invalid("redis.quorum.nodes",
					"a list of " + this.nodes.size() + " server(s)",
					"but a quorum has " + RedisQuorumLockProvider.FEWEST_NODES + " to "
							+ RedisQuorumLockProvider.MOST_NODES,
					"Name 3 servers, of which 1 may be down, or 5, of which 2 may be; remove the property to keep the"
							+ " locks in the Redis of spring.data.redis");
		}
		List<RedisQuorumNode> addresses = new ArrayList<>();
		for (int index = 0; index < this.nodes.size(); index++) {
			addresses.add(this.nodes.get(index).address("redis.quorum.nodes[" + index + "]", bundles));
		}
		return addresses;
	}

	/**
	 * A server of the quorum.
	 *
	 * @param url URL of the server, such as 'rediss://user:password@host:6379', instead
	 * of host, port, username and password.
	 * @param host Host of the server.
	 * @param port Port of the server; 6379 by default.
	 * @param username User to log in as.
	 * @param password Password to log in with.
	 * @param ssl Encryption of the connection.
	 */
	public record Node(@Nullable String url, @Nullable String host, @Nullable Integer port, @Nullable String username,
			@Nullable String password, @DefaultValue Ssl ssl) {

		/** Contains neither the password nor the URL, which may have one. */
		@Override
		public String toString() {
			return "Node[host=" + this.host + ", port=" + this.port + ", ssl=" + this.ssl + "]";
		}

		private RedisQuorumNode address(String property, @Nullable SslBundles bundles) {
			RedisURI uri = StringUtils.hasText(this.url) ? ofUrl(property, this.url) : ofHost(property);
			boolean encrypted = (this.ssl.enabled() != null) ? this.ssl.enabled()
					: uri.isSsl() || StringUtils.hasText(this.ssl.bundle());
			uri.setSsl(encrypted);
			return new RedisQuorumNode(uri, encrypted ? this.ssl.options(property, bundles) : null);
		}

		private RedisURI ofUrl(String property, String text) {
			String part = StringUtils.hasText(this.host) ? "host"
					: (this.port != null) ? "port" : StringUtils.hasText(this.username) ? "username"
							: StringUtils.hasText(this.password) ? "password" : null;
			if (part != null) {
				throw DistributedLockProperties.invalid(property + "." + part, "set beside a url",
						"which has its own " + part, "Set the url alone, or host, port, username and password");
			}
			RedisURI uri;
			try {
				uri = RedisURI.create(text);
			}
			catch (IllegalArgumentException ex) {
				// Not the text, which may have a password.
				throw DistributedLockProperties.invalid(property + ".url", "not a URL of Redis",
						"so that the server is unknown",
						"Use the form redis://user:password@host:port, or rediss:// with TLS");
			}
			if (!StringUtils.hasText(uri.getHost())) {
				throw DistributedLockProperties.invalid(property + ".url", "a URL without a host",
						"such as one of sentinels or a socket",
						"Name each server of the quorum by its own host and port");
			}
			return uri;
		}

		private RedisURI ofHost(String property) {
			if (!StringUtils.hasText(this.host)) {
				throw DistributedLockProperties.invalid(property, "without a host", "so that the server is unknown",
						"Set " + "distributed-lock." + property + ".host or .url");
			}
			int number = (this.port != null) ? this.port : RedisURI.DEFAULT_REDIS_PORT;
			if (number < 1 || number > 65535) {
				throw DistributedLockProperties.invalid(property + ".port", number, "but must be 1 to 65535",
						"Remove it for the usual port, 6379");
			}
			if (StringUtils.hasText(this.username) && !StringUtils.hasText(this.password)) {
				throw DistributedLockProperties.invalid(property + ".username", "set without a password",
						"so that the connection would be that of the default user",
						"Set distributed-lock." + property + ".password too, or remove the username");
			}
			RedisURI.Builder uri = RedisURI.builder().withHost(this.host).withPort(number);
			if (StringUtils.hasText(this.password) && StringUtils.hasText(this.username)) {
				uri.withAuthentication(this.username, this.password.toCharArray());
			}
			else if (StringUtils.hasText(this.password)) {
				uri.withPassword(this.password.toCharArray());
			}
			return uri.build();
		}

	}

	/**
	 * Encryption of a connection.
	 *
	 * @param enabled Whether the connection is encrypted; by default it is if a bundle is
	 * named or the URL begins with 'rediss'.
	 * @param bundle Name of the SSL bundle with the keys and trusted certificates.
	 */
	public record Ssl(@Nullable Boolean enabled, @Nullable String bundle) {

		private io.lettuce.core.@Nullable SslOptions options(String property, @Nullable SslBundles bundles) {
			if (!StringUtils.hasText(this.bundle)) {
				return null;
			}
			SslBundle found = find(property + ".ssl.bundle", this.bundle, bundles);
			io.lettuce.core.SslOptions.Builder options = io.lettuce.core.SslOptions.builder()
				.keyManager(found.getManagers().getKeyManagerFactory())
				.trustManager(found.getManagers().getTrustManagerFactory());
			if (found.getOptions().getCiphers() != null) {
				options.cipherSuites(found.getOptions().getCiphers());
			}
			if (found.getOptions().getEnabledProtocols() != null) {
				options.protocols(found.getOptions().getEnabledProtocols());
			}
			return options.build();
		}

		private static SslBundle find(String property, String name, @Nullable SslBundles bundles) {
			try {
				if (bundles != null) {
					return bundles.getBundle(name);
				}
			}
			catch (NoSuchSslBundleException ex) {
				throw missing(property, name);
			}
			throw missing(property, name);
		}

		private static LockConfigurationException missing(String property, String name) {
			return DistributedLockProperties.invalid(property, "'" + name + "'", "but there is no such SSL bundle",
					"Define spring.ssl.bundle.pem." + name + ".* or spring.ssl.bundle.jks." + name + ".*");
		}

	}

}
