package io.distributedlock.zookeeper;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.Scanner;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.apache.zookeeper.server.AuthenticationHelper;
import org.apache.zookeeper.server.ContainerManager;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.NettyServerCnxnFactory;
import org.apache.zookeeper.server.ServerCnxn.DisconnectReason;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.auth.X509AuthenticationProvider;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;
import org.apache.zookeeper.server.quorum.flexible.QuorumMaj;
import org.slf4j.LoggerFactory;

import org.springframework.beans.DirectFieldAccessor;
import org.springframework.util.FileSystemUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * ZooKeeper server in its own JVM, which a test can freeze and command beyond what a
 * client may do. It ends with the tests.
 */
final class ZooKeeperServerProcess {

	private final Process process;

	private final BufferedReader answers;

	private final int port;

	private ZooKeeperServerProcess(Class<?> main, String... arguments) {
		this(List.of(), main, arguments);
	}

	private ZooKeeperServerProcess(List<String> options, Class<?> main, String... arguments) {
		quiet();
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1",
						"-XX:+UseSerialGC", "-Xmx256m", "-Dzookeeper.forceSync=no",
						"-Dzookeeper.4lw.commands.whitelist=*", "-Dzookeeper.test.allowDiscontinuousProposals=true",
						"-Dzookeeper.admin.enableServer=false", "-Djava.awt.headless=true"));
		command.addAll(options);
		command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
		command.addAll(List.of(arguments));
		try {
			this.process = new ProcessBuilder(command).redirectError(Redirect.DISCARD).start();
			Runtime.getRuntime().addShutdownHook(new Thread(this.process::destroyForcibly));
			this.answers = this.process.inputReader();
			this.port = Integer.parseInt(answer());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Starts a member of an ensemble, without waiting for the others. */
	static ZooKeeperServerProcess ofEnsemble(Path configuration) {
		return new ZooKeeperServerProcess(PeerMain.class, configuration.toString());
	}

	/**
	 * Starts a server on the data of a former one, or on an empty directory.
	 * @param port the port, or 0 for a free one
	 */
	static ZooKeeperServerProcess onData(Path data, int port, Duration maxSessionTimeout) {
		return new ZooKeeperServerProcess(Main.class, data.toString(), Integer.toString(port),
				Long.toString(maxSessionTimeout.toMillis()));
	}

	/** Starts a server that also listens with TLS. */
	static ZooKeeperServerProcess withTls(Path keyStore, Path trustStore) {
		return new ZooKeeperServerProcess(List.of("-Dzookeeper.ssl.keyStore.location=" + keyStore,
				"-Dzookeeper.ssl.keyStore.password=" + TestCertificates.PASSWORD,
				"-Dzookeeper.ssl.trustStore.location=" + trustStore,
				"-Dzookeeper.ssl.trustStore.password=" + TestCertificates.PASSWORD, "-Dzookeeper.ssl.clientAuth=want",
				"-Dzookeeper.ssl.enabledProtocols=TLSv1.2,TLSv1.3", "-Dzookeeper.ssl.clientHostnameVerification=false",
				"-Dzookeeper.authProvider.x509=" + X509AuthenticationProvider.class.getName()), TlsMain.class);
	}

	/** Starts a server that removes no container, so that only clients write. */
	static ZooKeeperServerProcess withoutReaper() {
		return new ZooKeeperServerProcess(List.of("-Dreaper=false"), Main.class);
	}

	/** Starts a server that serves only clients that have authenticated by a scheme. */
	static ZooKeeperServerProcess demandingAuthentication(String scheme) {
		return new ZooKeeperServerProcess(
				List.of("-Dzookeeper.enforce.auth.enabled=true", "-Dzookeeper.enforce.auth.schemes=" + scheme),
				Main.class);
	}

	/** Returns the port on which the server listens with TLS. */
	int securePort() {
		try {
			return Integer.parseInt(answer());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Sets a system property of the server. */
	void setProperty(String name, String value) {
		send("set " + name + " " + value);
	}

	/** Kills the process, as in a crash. */
	void kill() {
		this.process.destroyForcibly();
		this.process.onExit().join();
	}

	static ZooKeeperServerProcess shared() {
		return Shared.SERVER;
	}

	/** Reduces the logs of client and server to errors. */
	static void quiet() {
		for (String name : new String[] { "org.apache.zookeeper", "org.apache.curator" }) {
			((Logger) LoggerFactory.getLogger(name)).setLevel(Level.ERROR);
		}
	}

	ProcessHandle handle() {
		return this.process.toHandle();
	}

	InetSocketAddress address() {
		return new InetSocketAddress(InetAddress.getLoopbackAddress(), this.port);
	}

	int port() {
		return this.port;
	}

	/** Lets the server read again which authentication it demands. */
	void changeDemandedAuthentication(boolean demanded) {
		setProperty("zookeeper.enforce.auth.enabled", Boolean.toString(demanded));
		setProperty("zookeeper.enforce.auth.schemes", "digest");
		send("authenticate");
	}

	/** Adds to the number of the server's last transaction. */
	void advance(long by) {
		send("advance " + by);
	}

	/** Ends all connections, and no session. */
	void killConnections() {
		send("kill");
	}

	/** Ends a session. */
	void endSession(long id) {
		send("end " + id);
	}

	/** Returns a value of the server's monitoring command. */
	long statistic(String name) {
		try (Socket socket = new Socket(address().getAddress(), this.port)) {
			socket.getOutputStream().write("mntr".getBytes(StandardCharsets.US_ASCII));
			String text = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
			Matcher line = Pattern.compile("(?m)^" + name + "\\s+(\\d+)").matcher(text);
			assertThat(line.find()).as("%s in %s", name, text).isTrue();
			return Long.parseLong(line.group(1));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private synchronized void send(String command) {
		try {
			this.process.outputWriter().write(command + "\n");
			this.process.outputWriter().flush();
			assertThat(answer()).as("answer to '%s'", command).isEqualTo("done");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private String answer() throws IOException {
		String line = this.answers.readLine();
		while (line != null && !line.startsWith("> ")) {
			line = this.answers.readLine();
		}
		assertThat(line).as("answer of the server").isNotNull();
		return line.substring(2);
	}

	private static final class Shared {

		private static final ZooKeeperServerProcess SERVER = new ZooKeeperServerProcess(Main.class);

	}

	/**
	 * Server process: prints its port, executes commands, ends with its standard input.
	 */
	static final class Main {

		private Main() {
		}

		public static void main(String[] arguments) throws Exception {
			Server server = (arguments.length == 0) ? start()
					: start(new File(arguments[0]), Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
			obey(() -> server);
		}

		private static Server start() throws Exception {
			File data = Files.createTempDirectory("zookeeper").toFile();
			Runtime.getRuntime().addShutdownHook(new Thread(() -> FileSystemUtils.deleteRecursively(data)));
			return start(data, 0, 60_000);
		}

		private static Server start(File data, int port, int maxSessionTimeout) throws Exception {
			quiet();
			Server server = new Server(data, maxSessionTimeout);
			// Before any thread, so that the process ends if the data cannot be read.
			server.startdata();
			NIOServerCnxnFactory connections = new NIOServerCnxnFactory();
			connections.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0, -1, false);
			connections.startup(server);
			if (!"false".equals(System.getProperty("reaper"))) {
				server.reaper().start();
			}
			say(Integer.toString(connections.getLocalPort()));
			return server;
		}

		private static InetSocketAddress anyPort() {
			return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
		}

		private static void obey(Supplier<ZooKeeperServer> active) {
			Scanner orders = new Scanner(new InputStreamReader(System.in, StandardCharsets.UTF_8));
			while (orders.hasNextLine()) {
				String[] order = orders.nextLine().split(" ");
				ZooKeeperServer server = active.get();
				switch (order[0]) {
					case "advance" -> server.setZxid(server.getZxid() + Long.parseLong(order[1]));
					case "kill" -> Stream.of(server.getServerCnxnFactory(), server.getSecureServerCnxnFactory())
						.filter(Objects::nonNull)
						.forEach((factory) -> factory.closeAll(DisconnectReason.CONNECTION_CLOSE_FORCED));
					case "set" -> System.setProperty(order[1], order[2]);
					case "authenticate" ->
						new DirectFieldAccessor(server).setPropertyValue("authHelper", new AuthenticationHelper());
					case "end" -> server.closeSession(Long.parseLong(order[1]));
					default -> throw new IllegalArgumentException(order[0]);
				}
				say("done");
			}
			System.exit(0);
		}

		private static void say(String text) {
			byte[] line = ("> " + text + "\n").getBytes(StandardCharsets.UTF_8);
			System.out.write(line, 0, line.length);
			System.out.flush();
		}

	}

	/** Server process with a second port for TLS, which it prints after the other. */
	static final class TlsMain {

		private TlsMain() {
		}

		public static void main(String[] arguments) throws Exception {
			Server server = Main.start();
			Properties members = new Properties();
			members.setProperty("server.1",
					"127.0.0.1:1:2:participant;127.0.0.1:" + server.getServerCnxnFactory().getLocalPort());
			server.getZKDatabase().initConfigInZKDatabase(new QuorumMaj(members));
			System.setProperty(ServerCnxnFactory.ZOOKEEPER_SERVER_CNXN_FACTORY, NettyServerCnxnFactory.class.getName());
			ServerCnxnFactory connections = ServerCnxnFactory.createFactory();
			connections.configure(Main.anyPort(), 0, -1, true);
			connections.startup(server, false);
			server.setSecureServerCnxnFactory(connections);
			Main.say(Integer.toString(connections.getLocalPort()));
			Main.obey(() -> server);
		}

	}

	/** Server process of a member of an ensemble. */
	static final class PeerMain {

		private PeerMain() {
		}

		public static void main(String[] arguments) throws Exception {
			quiet();
			QuorumPeerConfig configuration = new QuorumPeerConfig();
			configuration.parse(arguments[0]);
			Peer peer = new Peer();
			new Thread(() -> ZooKeeperFixture.call(() -> {
				peer.runFromConfig(configuration);
				return true;
			})).start();
			Main.say(Integer.toString(configuration.getClientPortAddress().getPort()));
			Main.obey(peer::active);
		}

	}

	private static final class Peer extends QuorumPeerMain {

		private ZooKeeperServer active() {
			return this.quorumPeer.getActiveServer();
		}

	}

	private static final class Server extends ZooKeeperServer {

		private Server(File data, int maxSessionTimeout) throws IOException {
			super(data, data, 200);
			setMaxSessionTimeout(maxSessionTimeout);
		}

		private ContainerManager reaper() {
			return new ContainerManager(getZKDatabase(), this.firstProcessor, 500, 600_000);
		}

	}

}
