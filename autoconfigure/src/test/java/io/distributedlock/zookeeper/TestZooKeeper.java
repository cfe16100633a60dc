package io.distributedlock.zookeeper;

/**
 * Servers that all tests of a JVM share.
 */
public final class TestZooKeeper {

	private TestZooKeeper() {
	}

	/** Where it listens. */
	public static String connectString() {
		return "127.0.0.1:" + ZooKeeperServerProcess.shared().port();
	}

	/** Where a server listens that serves only clients with digest credentials. */
	public static String connectStringWithAuthentication() {
		return "127.0.0.1:" + WithAuthentication.SERVER.port();
	}

	private static final class WithAuthentication {

		private static final ZooKeeperServerProcess SERVER = ZooKeeperServerProcess.demandingAuthentication("digest");

	}

}
