package io.distributedlock.autoconfigure;

import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

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

}
