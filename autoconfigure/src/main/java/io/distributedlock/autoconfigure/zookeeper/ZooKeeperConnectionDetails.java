package io.distributedlock.autoconfigure.zookeeper;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;
import org.springframework.boot.ssl.SslBundle;

/**
 * Connection details of the ZooKeeper ensemble that keeps the locks, for tools that start
 * one beside the application. They override the properties.
 *
 * @since 0.1.0
 */
public interface ZooKeeperConnectionDetails extends ConnectionDetails {

	/**
	 * Returns the servers, in the form that ZooKeeper's client expects.
	 * @return hosts with ports, separated by commas
	 */
	String getConnectString();

	/**
	 * Returns the SSL bundle for connections over TLS. It replaces that of the property.
	 * @return the bundle, or {@code null} to connect without TLS
	 */
	default @Nullable SslBundle getSslBundle() {
		return null;
	}

}
