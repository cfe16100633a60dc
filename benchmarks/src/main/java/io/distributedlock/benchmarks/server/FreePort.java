package io.distributedlock.benchmarks.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A port for a server that cannot choose one itself, below those that systems give to
 * outgoing connections: none of these takes it before the server starts. A node of a
 * Redis cluster listens on the port that is higher by 10,000 too.
 */
final class FreePort {

	private static final int LOWEST = 10_000;

	private static final int COUNT = 10_000;

	private static final int CLUSTER_BUS = 10_000;

	private FreePort() {
	}

	static int choose() {
		while (true) {
			int port = LOWEST + ThreadLocalRandom.current().nextInt(COUNT);
			if (isFree(port) && isFree(port + CLUSTER_BUS)) {
				return port;
			}
		}
	}

	private static boolean isFree(int port) {
		try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
			return socket.isBound();
		}
		catch (IOException ex) {
			return false;
		}
	}

}
