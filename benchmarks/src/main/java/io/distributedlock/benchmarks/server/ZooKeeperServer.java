package io.distributedlock.benchmarks.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;

import io.distributedlock.benchmarks.Endpoint;
import io.distributedlock.benchmarks.Store;

/**
 * A ZooKeeper server that makes each change durable, as in production.
 */
final class ZooKeeperServer implements StoreServer {

	private static final Pattern RECEIVED = Pattern.compile("zk_packets_received\\s+(\\d+)");

	private static final Pattern NODES = Pattern.compile("zk_znode_count\\s+(\\d+)");

	private static final Pattern ZXID = Pattern.compile("Zxid: 0x([0-9a-f]+)");

	/** Connections from one address. */
	private static final int UNLIMITED = 0;

	private final TestingServer server;

	ZooKeeperServer(Path directory) {
		System.setProperty("zookeeper.4lw.commands.whitelist", "mntr,srvr");
		System.setProperty("zookeeper.admin.enableServer", "false");
		// The server would remove the containers of one contender while it serves the
		// next.
		System.setProperty("znode.container.checkIntervalMs", Long.toString(Duration.ofDays(1).toMillis()));
		try {
			this.server = new TestingServer(new InstanceSpec(directory.toFile(), -1, -1, -1, true, -1, 2000, UNLIMITED),
					true);
		}
		catch (Exception ex) {
			throw new IllegalStateException("ZooKeeper does not start", ex);
		}
	}

	@Override
	public Endpoint endpoint() {
		return new Endpoint(Store.ZOOKEEPER, "127.0.0.1:" + this.server.getPort());
	}

	@Override
	public Counters counters() {
		return new Counters(OptionalLong.of(number(RECEIVED, ask("mntr"), 10)),
				OptionalLong.of(number(ZXID, ask("srvr"), 16)));
	}

	@Override
	public long size() {
		return number(NODES, ask("mntr"), 10);
	}

	private static long number(Pattern pattern, String text, int radix) {
		Matcher matcher = pattern.matcher(text);
		if (!matcher.find()) {
			throw new IllegalStateException("There is no " + pattern + " in: " + text);
		}
		return Long.parseLong(matcher.group(1), radix);
	}

	private String ask(String word) {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.server.getPort())) {
			socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
			return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		try {
			this.server.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
