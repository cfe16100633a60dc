package io.distributedlock;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for servers that cannot choose one themselves. They are below those that systems
 * give to outgoing connections, so that none of these takes a port before its server
 * starts, or while it is down. The port that is higher by 10,000, where a node of a Redis
 * cluster listens too, is free as well.
 */
public final class FreePorts {

	private static final int LOWEST = 10_000;

	private static final int COUNT = 10_000;

	private static final int CLUSTER_BUS = 10_000;

	/** The ports of this JVM: another one chooses the same seldom. */
	private static final Set<Integer> CHOSEN = new HashSet<>();

	private FreePorts() {
	}

	/** Chooses a port that was not chosen before. */
	public static synchronized int next() {
		while (true) {
			int port = LOWEST + ThreadLocalRandom.current().nextInt(COUNT);
			if (isFree(port) && isFree(port + CLUSTER_BUS) && CHOSEN.add(port)) {
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
