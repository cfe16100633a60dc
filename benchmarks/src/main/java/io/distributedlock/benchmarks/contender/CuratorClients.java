package io.distributedlock.benchmarks.contender;

import java.util.concurrent.TimeUnit;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;

import io.distributedlock.benchmarks.Endpoint;

/**
 * Connected clients of ZooKeeper.
 */
final class CuratorClients {

	private CuratorClients() {
	}

	/** Opens a connected client, to be closed by the caller. */
	static CuratorFramework open(Endpoint server) {
		CuratorFramework client = CuratorFrameworkFactory.builder()
			.connectString(server.address())
			.sessionTimeoutMs(30_000)
			.connectionTimeoutMs(10_000)
			.retryPolicy(new ExponentialBackoffRetry(100, 3))
			.build();
		client.start();
		try {
			if (!client.blockUntilConnected(30, TimeUnit.SECONDS)) {
				throw new IllegalStateException("ZooKeeper does not answer at " + server.address());
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
		return client;
	}

}
