package io.distributedlock.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;
import org.springframework.boot.ssl.SslBundle;

/**
 * Where the ZooKeeper ensemble is that keeps the locks, for what starts one beside the
 * application. Comes before the properties.
 *
 * @since 0.1.0
 */
public interface ZooKeeperConnectionDetails extends ConnectionDetails {

	/**
	 * The servers, as the client takes them.
	 * @return hosts with ports, separated by commas
	 */
	String getConnectString();

	/**
	 * How the servers are spoken to over TLS. Where this is asked, the property for it is
	 * not.
	 * @return the bundle, or {@code null} to speak without TLS
	 */
	default @Nullable SslBundle getSslBundle() {
		return null;
	}

}
