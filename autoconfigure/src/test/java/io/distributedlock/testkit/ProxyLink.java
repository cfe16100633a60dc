package io.distributedlock.testkit;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.distributedlock.testkit.TcpProxy.Direction;

/**
 * One connection through a {@link TcpProxy}: two threads, one for each direction.
 */
final class ProxyLink {

	private final Socket client;

	private final Socket server;

	private final List<WireFault> faults;

	private final Consumer<ProxyLink> ended;

	private final AtomicInteger openDirections = new AtomicInteger(2);

	/** Fault for the server's next packet. */
	private final AtomicReference<@Nullable WireFault> awaitingReply = new AtomicReference<>();

	private volatile boolean swallowsRequests;

	private volatile boolean swallowsReplies;

	ProxyLink(Socket client, Socket server, List<WireFault> faults, Consumer<ProxyLink> ended) {
		this.client = client;
		this.server = server;
		this.faults = faults;
		this.ended = ended;
	}

	void begin() throws IOException {
		this.client.setTcpNoDelay(true);
		this.server.setTcpNoDelay(true);
		TcpProxy.start("proxy-requests", () -> pump(this.client, this.server, Direction.TO_SERVER));
		TcpProxy.start("proxy-replies", () -> pump(this.server, this.client, Direction.TO_CLIENT));
	}

	private void pump(Socket from, Socket to, Direction way) {
		byte[] buffer = new byte[65536];
		try {
			InputStream input = from.getInputStream();
			for (int read = input.read(buffer); read >= 0; read = input.read(buffer)) {
				byte[] packet = Arrays.copyOf(buffer, read);
				if (passes(packet, way) && !forward(to, packet) && way == Direction.TO_CLIENT
						&& this.openDirections.get() == 1) {
					// Both ends of the client have gone, so the server's packets have no
					// receiver.
					return;
				}
			}
			halfClose(way);
		}
		catch (IOException ex) {
			halfClose(way);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		finally {
			if (this.openDirections.decrementAndGet() == 0) {
				cut();
			}
		}
	}

	/**
	 * Forwards a packet and returns whether the receiver was reachable. A receiver that
	 * has gone does not end the direction: later packets still reach the proxy's faults.
	 */
	private static boolean forward(Socket to, byte[] packet) {
		try {
			OutputStream output = to.getOutputStream();
			output.write(packet);
			output.flush();
			return true;
		}
		catch (IOException ex) {
			return false;
		}
	}

	private boolean passes(byte[] packet, Direction way) throws InterruptedException {
		if (way == Direction.TO_CLIENT) {
			WireFault due = this.awaitingReply.getAndSet(null);
			if (due != null && !due.apply(this, way)) {
				return false;
			}
		}
		for (WireFault fault : this.faults) {
			if (fault.claims(way, packet)) {
				if (fault.isReply()) {
					this.awaitingReply.set(fault);
					// The next fault is for another reply.
					break;
				}
				if (!fault.apply(this, way)) {
					return false;
				}
			}
		}
		return !((way == Direction.TO_SERVER) ? this.swallowsRequests : this.swallowsReplies);
	}

	void swallow(Direction way) {
		if (way == Direction.TO_SERVER) {
			this.swallowsRequests = true;
		}
		else {
			this.swallowsReplies = true;
		}
	}

	void halfClose(Direction way) {
		try {
			((way == Direction.TO_SERVER) ? this.server : this.client).shutdownOutput();
		}
		catch (IOException ex) {
			// It has ended already.
			return;
		}
	}

	void cut() {
		reset(this.client);
		reset(this.server);
		this.ended.accept(this);
	}

	private static void reset(Socket socket) {
		try (Closeable closing = socket) {
			socket.setSoLinger(true, 0);
		}
		catch (IOException ex) {
			// It has ended already.
			return;
		}
	}

}
