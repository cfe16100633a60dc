package io.distributedlock.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import javax.net.ssl.SSLContext;

/**
 * Proxy that speaks TLS with clients and forwards what they send to a server that does
 * not. Safe for use by many threads.
 */
final class TlsProxy implements AutoCloseable {

	private final ServerSocket listener;

	private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

	/**
	 * Opens a proxy on a free port of the loopback interface.
	 * @param target the server
	 * @param context the proxy's certificate
	 */
	TlsProxy(InetSocketAddress target, SSLContext context) {
		try {
			this.listener = context.getServerSocketFactory()
				.createServerSocket(0, 50, InetAddress.getLoopbackAddress());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		start("proxy-accept", () -> accept(target));
	}

	/** The proxy's port on the loopback interface. */
	int port() {
		return this.listener.getLocalPort();
	}

	private static void start(String name, Runnable work) {
		Thread thread = new Thread(work, name);
		thread.setDaemon(true);
		thread.start();
	}

	private void accept(InetSocketAddress target) {
		while (!this.listener.isClosed()) {
			Socket server = new Socket();
			this.sockets.add(server);
			try {
				Socket client = this.listener.accept();
				this.sockets.add(client);
				server.connect(target, 5000);
				start("proxy-to-server", () -> forward(client, server));
				start("proxy-to-client", () -> forward(server, client));
			}
			catch (IOException ex) {
				// The listener was closed, or the server is down: nothing to forward.
				close(server);
			}
		}
		this.sockets.forEach(TlsProxy::close);
	}

	/** The first read of a client's bytes shakes hands. */
	private void forward(Socket from, Socket to) {
		try {
			from.getInputStream().transferTo(to.getOutputStream());
		}
		catch (IOException ex) {
			// One of them has closed, or the client does not trust this proxy.
		}
		finally {
			close(from);
			close(to);
			this.sockets.remove(from);
			this.sockets.remove(to);
		}
	}

	@Override
	public void close() {
		try {
			this.listener.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.sockets.forEach(TlsProxy::close);
	}

	private static void close(Socket socket) {
		try {
			socket.close();
		}
		catch (IOException ex) {
			// It is closed all the same.
		}
	}

}
