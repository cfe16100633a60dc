package io.distributedlock.redis.quorum;

import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import org.jspecify.annotations.Nullable;

/**
 * Address of one server of a quorum.
 *
 * @param uri host, port, credentials, and whether the connection is encrypted; its
 * time-out is not used
 * @param sslOptions keys and trusted certificates of an encrypted connection, or
 * {@code null} for those of the JVM
 * @since 0.1.0
 */
public record RedisQuorumNode(RedisURI uri, @Nullable SslOptions sslOptions) {

	/**
	 * Returns the address for people, without credentials.
	 * @return host and port
	 */
	public String name() {
		return this.uri.getHost() + ":" + this.uri.getPort();
	}

}
