package io.distributedlock.zookeeper;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import org.slf4j.Logger;

import org.springframework.util.FileSystemUtils;

import io.distributedlock.FreePorts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Server of ZooKeeper 3.5, which is older than locks need, in its own JVM with its own
 * class path. It ends with the tests.
 */
public final class OldZooKeeper {

	/** Where the build copies the server's jars. */
	private static final Path JARS = Path.of("target", "old-zookeeper");

	private final int port = FreePorts.next();

	private OldZooKeeper() throws IOException {
		Path data = Files.createTempDirectory("zookeeper-old");
		Path configuration = Files.writeString(data.resolve("zoo.cfg"),
				"tickTime=200\nmaxSessionTimeout=60000\nclientPortAddress=127.0.0.1\nclientPort=" + this.port
						+ "\ndataDir=" + data + "\n");
		Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m", "-Dzookeeper.forceSync=no",
				"-Dzookeeper.4lw.commands.whitelist=*", "-Dzookeeper.admin.enableServer=false",
				"-Dzookeeper.jmx.log4j.disable=true", "-cp", classPath(),
				"org.apache.zookeeper.server.ZooKeeperServerMain", configuration.toString())
			.redirectOutput(Redirect.DISCARD)
			.redirectError(Redirect.DISCARD)
			.start();
		Runtime.getRuntime().addShutdownHook(new Thread(() -> {
			process.destroyForcibly().onExit().join();
			FileSystemUtils.deleteRecursively(data.toFile());
		}));
		await().atMost(Duration.ofMinutes(1)).until(() -> version().contains("version: 3.5."));
	}

	private static String classPath() throws IOException {
		try (Stream<Path> jars = Files.list(JARS)) {
			List<String> server = jars.map(Path::toString).toList();
			assertThat(server).as("jars of the server").hasSize(2);
			Path logging = Path.of(Logger.class.getProtectionDomain().getCodeSource().getLocation().toURI());
			return String.join(File.pathSeparator, server) + File.pathSeparator + logging;
		}
		catch (URISyntaxException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private String version() {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.port)) {
			socket.setSoTimeout(1000);
			socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
			return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
		}
		catch (IOException ex) {
			return "";
		}
	}

	/** Returns where the server listens that all tests of a JVM share. */
	public static String connectString() {
		return "127.0.0.1:" + Shared.SERVER.port;
	}

	private static final class Shared {

		private static final OldZooKeeper SERVER = start();

		private static OldZooKeeper start() {
			try {
				return new OldZooKeeper();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
