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
 * Stands between a client and a server and disturbs what they say: a packet that matches
 * a predicate, or the reply to it, is delayed, dropped, held back, or costs the
 * connection. A store of several servers has one port here for each. Closing it fails if
 * one of its faults never took effect.
 */
public final class TcpProxy implements AutoCloseable {

	/** By the ports of the servers, the first one first. */
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
	 * @param targets the servers, each on a port that no other has
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

	/** The port on which clients reach the server, the first one of several. */
	public int port() {
		return this.listeners.values().iterator().next().getLocalPort();
	}

	/**
	 * The port on which clients reach a server.
	 * @param server the server's own port
	 * @return the proxy's, or the server's own if the proxy does not stand before it
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
				// The listener was closed, or the client has gone: nothing to forward.
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

	/** Disturbs packets of a client that match. */
	public WireFault onRequest(Predicate<byte[]> packet, WireFault.Effect effect) {
		return add(new WireFault(Direction.TO_SERVER, packet, effect, false));
	}

	/** Disturbs the first packet that the server sends after a client's that matches. */
	public WireFault onReplyTo(Predicate<byte[]> packet, WireFault.Effect effect) {
		return add(new WireFault(Direction.TO_SERVER, packet, effect, true));
	}

	/** Disturbs packets of the server that match. */
	public WireFault onReply(Predicate<byte[]> packet, WireFault.Effect effect) {
		return add(new WireFault(Direction.TO_CLIENT, packet, effect, false));
	}

	private WireFault add(WireFault fault) {
		this.faults.add(fault);
		return fault;
	}

	/** Swallows everything in both directions, also on new connections, until lifted. */
	public WireFault blackHole() {
		return add(new WireFault(null, (packet) -> true, WireFault.Effect.BLACK_HOLE, false));
	}

	/** Cuts all connections. */
	public void cutAll() {
		assertThat(this.links).as("connections to be cut").isNotEmpty();
		this.links.forEach(ProxyLink::cut);
	}

	/** Cuts all connections, and refuses new ones for good. */
	public void refuse() {
		this.refusing = true;
		this.listeners.values().forEach(this::replace);
		this.links.forEach(ProxyLink::cut);
	}

	/** Puts a socket that does not listen in the place of one that does. */
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

	/** Which way a packet goes. */
	enum Direction {

		TO_SERVER, TO_CLIENT

	}

}
