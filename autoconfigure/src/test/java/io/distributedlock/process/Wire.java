package io.distributedlock.process;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A wire between a process and its database, which can be cut and mended. */
final class Wire implements AutoCloseable {

	private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

	private final ServerSocket server;

	private final int target;

	private volatile boolean cut;

	Wire(int target) {
		this.target = target;
		try {
			this.server = new ServerSocket(0, 50, InetAddress.getByName("localhost"));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		start(this::accept);
	}

	private static void start(Runnable work) {
		Thread thread = new Thread(work, "wire");
		thread.setDaemon(true);
		thread.start();
	}

	int port() {
		return this.server.getLocalPort();
	}

	/** From now on nothing gets through, neither on open connections nor on new ones. */
	void cut() {
		this.cut = true;
		this.sockets.forEach(Wire::close);
		this.sockets.clear();
	}

	void mend() {
		this.cut = false;
	}

	private void accept() {
		while (!this.server.isClosed()) {
			try {
				Socket client = this.server.accept();
				if (this.cut) {
					close(client);
					continue;
				}
				Socket database = new Socket("localhost", this.target);
				client.setTcpNoDelay(true);
				database.setTcpNoDelay(true);
				this.sockets.add(client);
				this.sockets.add(database);
				start(() -> pump(client, database));
				start(() -> pump(database, client));
			}
			catch (IOException ex) {
				if (!this.server.isClosed()) {
					throw new UncheckedIOException(ex);
				}
			}
		}
	}

	private void pump(Socket from, Socket to) {
		byte[] buffer = new byte[8192];
		try {
			InputStream input = from.getInputStream();
			for (int read = input.read(buffer); read >= 0 && !this.cut; read = input.read(buffer)) {
				to.getOutputStream().write(buffer, 0, read);
			}
		}
		catch (IOException ex) {
			// One end is gone: so is the other.
		}
		close(from);
		close(to);
		this.sockets.remove(from);
		this.sockets.remove(to);
	}

	private static void close(Socket socket) {
		try {
			socket.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		cut();
		try {
			this.server.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
