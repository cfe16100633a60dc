package io.distributedlock.benchmarks.server;

import java.nio.file.Path;

import io.distributedlock.benchmarks.Endpoint;
import io.distributedlock.benchmarks.Store;

/**
 * A real server that a run starts, on a free port of the loopback address.
 */
public interface StoreServer extends AutoCloseable {

	/** Returns where contenders connect. */
	Endpoint endpoint();

	/** Returns what the server has counted since it was started. */
	Counters counters();

	/** Returns the number of keys, rows or nodes that the server keeps. */
	long size();

	@Override
	void close();

	/**
	 * Starts a server.
	 * @param store what kind of server
	 * @param directory an existing folder for its files, removed by the caller
	 */
	static StoreServer start(Store store, Path directory) {
		return switch (store) {
			case REDIS -> RedisServers.single(directory);
			case REDIS_CLUSTER -> RedisServers.cluster(directory);
			case POSTGRESQL -> DatabaseServer.postgres(directory);
			case MYSQL -> DatabaseServer.mySql(directory);
			case MARIADB -> DatabaseServer.mariaDb(directory);
			case H2 -> DatabaseServer.h2();
			case ZOOKEEPER -> new ZooKeeperServer(directory);
		};
	}

}
