package io.distributedlock.testkit;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Proxy between a client and a server that delays, drops or holds packets, or breaks
 * their connections. It has one port for each server of a store. Closing it fails if one
 * of its faults had no effect.
 * <p>
 * A packet is the byte array of one read from a socket. Faults apply to packets that
 * match a predicate, in the order in which they were added. Safe for use by many threads.
 */
public final class TcpProxy implements AutoCloseable {

	/** Listeners by the ports of their servers, in the order of the servers. */
	private final Map<Integer, ServerSocket> listeners = new LinkedHashMap<>();

	private final Set<ProxyLink> links = ConcurrentHashMap.newKeySet();

	private final List<WireFault> faults = new CopyOnWriteArrayList<>();

	/** Sockets that keep the ports of closed listeners from being used by others. */
	private final Queue<Socket> reservedPorts = new ConcurrentLinkedQueue<>();

	private volatile boolean refusing;

	/**
	 * Opens a proxy on a free port of the loopback interface.
	 * @param target the server
	 */
	public TcpProxy(InetSocketAddress target) {
		this(List.of(target));
	}

	/**
	 * Opens a proxy on as many free ports of the loopback interface as there are servers.
	 * @param targets the servers, each with a different port
	 */
	public TcpProxy(List<InetSocketAddress> targets) {
		for (InetSocketAddress target : targets) {
			try {
				ServerSocket listener = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
				this.listeners.put(target.getPort(), listener);
				start("proxy-accept", () -> accept(listener, target));
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
	}

	static void start(String name, Runnable work) {
		Thread thread = new Thread(work, name);
		thread.setDaemon(true);
		thread.start();
	}

	/**
	 * Returns the port on which clients reach the first server.
	 * @return the proxy's port on the loopback interface
	 */
	public int port() {
		return this.listeners.values().iterator().next().getLocalPort();
	}

	/**
	 * Returns the port on which clients reach a server.
	 * @param server the server's own port
	 * @return the proxy's port, or the server's own port if it is none of the servers
	 */
	public int port(int server) {
		ServerSocket listener = this.listeners.get(server);
		return (listener != null) ? listener.getLocalPort() : server;
	}

	private void accept(ServerSocket listener, InetSocketAddress target) {
		while (!listener.isClosed()) {
			try {
				Socket client = listener.accept();
				start("proxy-connect", () -> connect(client, target));
			}
			catch (IOException ex) {
				// The listener was closed, or the client has closed: nothing to forward.
				continue;
			}
		}
	}

	private void connect(Socket client, InetSocketAddress target) {
		Socket server = new Socket();
		ProxyLink link = new ProxyLink(client, server, this.faults, this.links::remove);
		this.links.add(link);
		try {
			server.connect(target, 5000);
			link.begin();
		}
		catch (IOException ex) {
			link.cut();
		}
		if (this.refusing) {
			link.cut();
		}
	}

	/**
	 * Applies an effect to each packet of a client that matches.
	 * @param packet the predicate over the packet's bytes
	 * @param effect the effect
	 * @return the fault
	 */
	public WireFault onRequest(Predicate<byte[]> packet, WireFault.Effect effect) {
		return add(new WireFault(Direction.TO_SERVER, packet, effect, false));
	}

	/**
	 * Applies an effect to the first packet that the server sends after a client's packet
	 * that matches.
	 * @param packet the predicate over the bytes of the client's packet
	 * @param effect the effect
	 * @return the fault
	 */
	public WireFault onReplyTo(Predicate<byte[]> packet, WireFault.Effect effect) {
		return add(new WireFault(Direction.TO_SERVER, packet, effect, true));
	}

	/**
	 * Applies an effect to each packet of the server that matches.
	 * @param packet the predicate over the packet's bytes
	 * @param effect the effect
	 * @return the fault
	 */
	public WireFault onReply(Predicate<byte[]> packet, WireFault.Effect effect) {
		return add(new WireFault(Direction.TO_CLIENT, packet, effect, false));
	}

	private WireFault add(WireFault fault) {
		this.faults.add(fault);
		return fault;
	}

	/**
	 * Drops all packets in both directions, also those of new connections.
	 * @return the fault; closing it cuts the connections that lost packets
	 */
	public WireFault blackHole() {
		return add(new WireFault(null, (packet) -> true, WireFault.Effect.BLACK_HOLE, false));
	}

	/** Cuts all connections; fails if there is none. */
	public void cutAll() {
		assertThat(this.links).as("connections to be cut").isNotEmpty();
		this.links.forEach(ProxyLink::cut);
	}

	/** Cuts all connections and refuses new ones from now on. */
	public void refuse() {
		this.refusing = true;
		this.listeners.values().forEach(this::replace);
		this.links.forEach(ProxyLink::cut);
	}

	/** Replaces a listening socket by one that keeps the port and does not listen. */
	private void replace(ServerSocket listener) {
		Socket reserved = new Socket();
		this.reservedPorts.add(reserved);
		try {
			reserved.setReuseAddress(true);
			listener.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		// The system keeps the port until the accepting thread has left.
		await().pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(1))
			.ignoreExceptionsInstanceOf(BindException.class)
			.untilAsserted(() -> reserved.bind(listener.getLocalSocketAddress()));
	}

	@Override
	public void close() {
		this.refusing = true;
		this.faults.forEach(WireFault::close);
		this.listeners.values().forEach(TcpProxy::close);
		this.links.forEach(ProxyLink::cut);
		this.reservedPorts.forEach(TcpProxy::close);
		assertThat(this.faults).allSatisfy(WireFault::assertTookEffect);
	}

	private static void close(Closeable socket) {
		try {
			socket.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Direction of a packet. */
	enum Direction {

		TO_SERVER, TO_CLIENT

	}

}
