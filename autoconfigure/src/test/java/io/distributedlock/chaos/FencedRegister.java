package io.distributedlock.chaos;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

import io.distributedlock.chaos.HistoryEvent.Kind;

/**
 * The resource that the locks guard, in the JVM of the runner, which no fault touches. It
 * accepts a write if its token is higher than the last one, or equal and of the same
 * owner. A twin without a fence accepts all writes, and tells what a fence is good for.
 * <p>
 * A client sends a line with key, token, process and call, and gets a word.
 */
final class FencedRegister implements AutoCloseable {

	private final Map<String, Value> values = new HashMap<>();

	private final AtomicLong staleInTwin = new AtomicLong();

	private final HistoryLog log;

	private final ServerSocket server;

	FencedRegister(HistoryLog log) throws IOException {
		this.log = log;
		this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		start(this::accept);
	}

	private static void start(Runnable work) {
		Thread thread = new Thread(work, "fenced-register");
		thread.setDaemon(true);
		thread.start();
	}

	int port() {
		return this.server.getLocalPort();
	}

	/** How many writes the twin has accepted after one with a higher token. */
	long staleInTwin() {
		return this.staleInTwin.get();
	}

	private void accept() {
		while (!this.server.isClosed()) {
			try {
				Socket client = this.server.accept();
				start(() -> serve(client));
			}
			catch (IOException ex) {
				// It is being closed.
				continue;
			}
		}
	}

	private void serve(Socket client) {
		try (client;
				BufferedReader input = new BufferedReader(
						new InputStreamReader(client.getInputStream(), StandardCharsets.UTF_8))) {
			client.setTcpNoDelay(true);
			for (String line = input.readLine(); line != null; line = input.readLine()) {
				String[] words = line.split(" ");
				String answer = write(words[0], Long.parseLong(words[1]), words[2], words[3]) ? HistoryEvent.ACCEPTED
						: HistoryEvent.REFUSED;
				client.getOutputStream().write((answer + "\n").getBytes(StandardCharsets.UTF_8));
			}
		}
		catch (IOException ex) {
			// The client was killed.
			return;
		}
	}

	/** Writes to a key, and returns whether that is accepted. */
	synchronized boolean write(String key, long token, String process, String call) {
		Value value = this.values.getOrDefault(key, new Value(-1, ""));
		boolean accepted = token > value.token || (token == value.token && call.equals(value.owner));
		if (accepted) {
			this.values.put(key, new Value(token, call));
		}
		else if (token < value.token) {
			this.staleInTwin.incrementAndGet();
		}
		this.log.add(new HistoryEvent(System.nanoTime(), Kind.WRITE, process, call, key, token,
				accepted ? HistoryEvent.ACCEPTED : HistoryEvent.REFUSED));
		return accepted;
	}

	@Override
	public void close() throws IOException {
		this.server.close();
	}

	private record Value(long token, String owner) {
	}

	/** The register as a thread of a client sees it. */
	static final class Connection implements AutoCloseable {

		private final Socket socket;

		private final BufferedReader answers;

		Connection(int port) throws IOException {
			this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
			this.socket.setTcpNoDelay(true);
			this.answers = new BufferedReader(
					new InputStreamReader(this.socket.getInputStream(), StandardCharsets.UTF_8));
		}

		boolean write(String key, long token, String process, String call) {
			try {
				String line = key + " " + token + " " + process + " " + call + "\n";
				this.socket.getOutputStream().write(line.getBytes(StandardCharsets.UTF_8));
				return HistoryEvent.ACCEPTED.equals(this.answers.readLine());
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

		@Override
		public void close() throws IOException {
			this.socket.close();
		}

	}

}
