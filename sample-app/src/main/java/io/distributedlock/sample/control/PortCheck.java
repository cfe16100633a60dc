package io.distributedlock.sample.control;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.web.server.PortInUseException;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;

/**
 * Check of the port before the web server takes it: that would report a port that is
 * taken at length.
 */
@Component
@Profile("!" + SampleApplication.WORKER)
class PortCheck implements SmartLifecycle {

	/**
	 * A port that one may not open, and an address of another machine, are told apart by
	 * words only.
	 */
	private static final String IN_USE = "Address already in use";

	private final int port;

	private final InetAddress address;

	private volatile boolean running;

	PortCheck(@Value("${server.port}") int port, @Value("${server.address}") InetAddress address) {
		this.port = port;
		this.address = address;
	}

	@Override
	public void start() {
		this.running = true;
		try (ServerSocket socket = new ServerSocket()) {
			// As the web server does, or a connection that was closed just now is in the
			// way.
			socket.setReuseAddress(true);
			socket.bind(new InetSocketAddress(this.address, this.port));
		}
		catch (IOException ex) {
			if (ex instanceof BindException && String.valueOf(ex.getMessage()).startsWith(IN_USE)) {
				throw new PortInUseException(this.port, ex);
			}
			throw new UncheckedIOException(
					"Port " + this.port + " of " + this.address.getHostAddress() + " cannot be opened", ex);
		}
	}

	@Override
	public void stop() {
		this.running = false;
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return 0;
	}

}
