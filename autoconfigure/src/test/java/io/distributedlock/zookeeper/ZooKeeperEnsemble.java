package io.distributedlock.zookeeper;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.springframework.util.FileSystemUtils;

import io.distributedlock.FreePorts;
import io.distributedlock.testkit.TcpProxy;

import static org.awaitility.Awaitility.await;

/**
 * Ensemble of three servers, each in its own JVM. Each server reaches the others through
 * its own proxy, so that a test can cut it off from its leader but not from its clients.
 */
final class ZooKeeperEnsemble {

	private static final Duration START = Duration.ofSeconds(90);

	private final List<Path> configurations = new ArrayList<>();

	private final List<TcpProxy> ways = new ArrayList<>();

	private final List<ZooKeeperServerProcess> servers = new ArrayList<>();

	private ZooKeeperEnsemble() throws IOException {
		List<Integer> ports = IntStream.range(0, 9).map((number) -> FreePorts.next()).boxed().toList();
		Path data = Files.createTempDirectory("zookeeper-ensemble");
		Runtime.getRuntime().addShutdownHook(new Thread(() -> FileSystemUtils.deleteRecursively(data.toFile())));
		for (int number = 0; number < 3; number++) {
			TcpProxy way = new TcpProxy(ports.subList(0, 3).stream().map((port) -> address(port)).toList());
			this.ways.add(way);
			Path home = Files.createDirectory(data.resolve("server-" + number));
			Files.writeString(home.resolve("myid"), Integer.toString(number + 1));
			StringBuilder text = new StringBuilder("tickTime=200\ninitLimit=8\nsyncLimit=50\nmaxSessionTimeout=60000\n"
					+ "standaloneEnabled=false\nmaxClientCnxns=0\nclientPortAddress=127.0.0.1\n");
			text.append("dataDir=").append(home).append("\nclientPort=").append(ports.get(6 + number)).append('\n');
			for (int other = 0; other < 3; other++) {
				int quorum = (other == number) ? ports.get(other) : way.port(ports.get(other));
				text.append("server.%d=127.0.0.1:%d:%d\n".formatted(other + 1, quorum, ports.get(3 + other)));
			}
			this.configurations.add(Files.writeString(home.resolve("zoo.cfg"), text));
			this.servers.add(ZooKeeperServerProcess.ofEnsemble(home.resolve("zoo.cfg")));
		}
		awaitAll();
	}

	static ZooKeeperEnsemble shared() {
		return Shared.ENSEMBLE;
	}

	private static InetSocketAddress address(int port) {
		return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
	}

	List<ZooKeeperServerProcess> servers() {
		return this.servers;
	}

	String connectString() {
		return this.servers.stream().map(ZooKeeperEnsemble::connectString).collect(Collectors.joining(","));
	}

	static String connectString(ZooKeeperServerProcess server) {
		return "127.0.0.1:" + server.port();
	}

	/** Waits until all three serve. */
	void awaitAll() {
		await().atMost(START)
			.pollInterval(Duration.ofMillis(50))
			.until(() -> this.servers.stream().map(ZooKeeperEnsemble::mode).filter("leader"::equals).count() == 1
					&& this.servers.stream().map(ZooKeeperEnsemble::mode).filter("follower"::equals).count() == 2);
	}

	/** The leader, once it says so. */
	ZooKeeperServerProcess leader() {
		return members("leader", 1).get(0);
	}

	/** Both followers, once they say so. */
	List<ZooKeeperServerProcess> followers() {
		return members("follower", 2);
	}

	private List<ZooKeeperServerProcess> members(String mode, int number) {
		return await().atMost(START)
			.pollInterval(Duration.ofMillis(50))
			.until(() -> this.servers.stream().filter((server) -> mode.equals(mode(server))).toList(),
					(members) -> members.size() == number);
	}

	/** The way by which a server reaches the others. */
	TcpProxy way(ZooKeeperServerProcess server) {
		return this.ways.get(this.servers.indexOf(server));
	}

	/** Starts a server that was killed, where it was. */
	void restart(ZooKeeperServerProcess server) {
		int number = this.servers.indexOf(server);
		this.servers.set(number, ZooKeeperServerProcess.ofEnsemble(this.configurations.get(number)));
	}

	private static String mode(ZooKeeperServerProcess server) {
		try (Socket socket = new Socket(server.address().getAddress(), server.port())) {
			socket.setSoTimeout(1000);
			socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
			String text = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
			return text.lines()
				.filter((line) -> line.startsWith("Mode: "))
				.map((line) -> line.substring(6))
				.findFirst()
				.orElse("none");
		}
		catch (IOException ex) {
			return "none";
		}
	}

	private static final class Shared {

		private static final ZooKeeperEnsemble ENSEMBLE = start();

		private static ZooKeeperEnsemble start() {
			try {
				return new ZooKeeperEnsemble();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
