package io.distributedlock.sample.control;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A port for a server that cannot choose one itself, below those that systems give to
 * outgoing connections: none of these takes it before the server starts.
 */
final class FreePort {

	private static final int LOWEST = 10_000;

	private static final int COUNT = 20_000;

	private FreePort() {
	}

	static int choose() {
		while (true) {
			int port = LOWEST + ThreadLocalRandom.current().nextInt(COUNT);
			try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
				return socket.getLocalPort();
			}
			catch (IOException ex) {
				// Another program has this port.
			}
		}
	}

}
