package io.distributedlock.sample;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.KeeperException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Tag("matrix")
@Tag("full")
class ZooKeeperProfileTests {

	private static final Duration SESSION = Duration.ofSeconds(4);

	private static final int FREEZE_SECONDS = 9;

	private static final int SEATS = 8;

	private static final int NONE = -1;

	private static Path directory;

	private static ControlProcess control;

	private static Sales sales;

	@BeforeAll
	static void start(@TempDir Path temporary) throws IOException {
		directory = temporary;
		control = new ControlProcess(directory,
				Map.of("SPRING_PROFILES_ACTIVE", "zookeeper", "DISTRIBUTEDLOCK_LEASE", SESSION.toSeconds() + "s",
						"DISTRIBUTEDLOCK_ZOOKEEPER_SESSIONTIMEOUT", SESSION.toSeconds() + "s", "SAMPLE_CAPACITY",
						Integer.toString(SEATS)));
		sales = new Sales(control, SEATS);
	}

	@AfterAll
	static void killingRemovesTheServersFiles() throws IOException {
		assertThat(serverDirectories()).hasSize(1);
		control.kill();
		control.awaitEnd();
		Awaitility.await()
			.atMost(Duration.ofSeconds(20))
			.untilAsserted(() -> assertThat(serverDirectories()).isEmpty());
	}

	@Test
	void sellsEachSeatOnceWithTheLock() throws Exception {
		sales.awaitOversold();
		assertThat(control.get("/api/status").at("/off/oversold").asInt()).isPositive();
		JsonNode result = control.post("/api/sales?lock=on");
		assertThat(result.get("oversold").asInt()).isZero();
		assertThat(result.get("sold").asInt()).isEqualTo(SEATS);
	}

	@Test
	void killedHolderIsSucceededWithAHigherTokenAfterItsSession() throws Exception {
		sales.assertKilledHolderIsSucceeded(SESSION);
	}

	@Test
	void lateWriteOfAFrozenHolderIsRefused() throws Exception {
		sales.assertLateWriteOfAFrozenHolderIsRefused(FREEZE_SECONDS);
	}

	@Test
	void refusesToListLocksWithoutThePassword() throws Exception {
		try (CuratorFramework client = CuratorFrameworkFactory.newClient("127.0.0.1:" + serverPort(),
				new RetryOneTime(100))) {
			client.start();
			assertThatExceptionOfType(KeeperException.NoAuthException.class)
				.isThrownBy(() -> client.getChildren().forPath("/distributed-lock/locks"));
		}
	}

	@Test
	void serverListensOnTheLoopbackInterfaceOnly() throws IOException {
		assertThat(ListeningSockets.of(control.pid())).isNotEmpty().allMatch(ListeningSockets::isLoopback);
	}

	/** Finds the port on which a ZooKeeper server answers, which may take it a while. */
	private static int serverPort() {
		return Awaitility.await()
			.atMost(Duration.ofSeconds(30))
			.until(ZooKeeperProfileTests::answeringPort, (port) -> port != NONE);
	}

	private static int answeringPort() throws IOException {
		for (String address : ListeningSockets.of(control.pid())) {
			int port = Integer.parseInt(address.substring(address.indexOf(':') + 1), 16);
			try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
				socket.setSoTimeout(1000);
				socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
				if (new String(socket.getInputStream().readNBytes(9), StandardCharsets.US_ASCII).equals("Zookeeper")) {
					return port;
				}
			}
			catch (SocketTimeoutException ex) {
				// The web server waits for the rest of a request.
				continue;
			}
		}
		return NONE;
	}

	private static List<Path> serverDirectories() throws IOException {
		try (Stream<Path> files = Files.list(directory)) {
			return files.filter((file) -> file.getFileName().toString().startsWith("distributed-lock-sample")).toList();
		}
	}

}
