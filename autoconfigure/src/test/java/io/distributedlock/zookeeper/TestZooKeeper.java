package io.distributedlock.zookeeper;

/**
 * Server that all tests of a JVM share.
 */
public final class TestZooKeeper {

	private TestZooKeeper() {
	}

	/** Where it listens. */
	public static String connectString() {
		return "127.0.0.1:" + ZooKeeperServerProcess.shared().port();
	}

}
