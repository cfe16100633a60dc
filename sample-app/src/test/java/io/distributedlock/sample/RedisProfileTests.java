package io.distributedlock.sample;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("matrix")
@Tag("full")
class RedisProfileTests {

	private static final Duration LEASE = Duration.ofSeconds(3);

	private static final int FREEZE_SECONDS = 8;

	private static final int SEATS = 8;

	private static final Pattern PORT = Pattern.compile("port (\\d+)");

	private static Path directory;

	private static ControlProcess control;

	private static Sales sales;

	@BeforeAll
	static void start(@TempDir Path temporary) throws IOException {
		directory = temporary;
		control = new ControlProcess(directory, Map.of("SPRING_PROFILES_ACTIVE", "redis", "DISTRIBUTEDLOCK_LEASE",
				LEASE.toSeconds() + "s", "SAMPLE_CAPACITY", Integer.toString(SEATS)));
		sales = new Sales(control, SEATS);
	}

	@AfterAll
	static void killingEndsTheServerAndRemovesItsFiles() throws IOException {
		ProcessHandle server = server();
		assertThat(server.isAlive()).isTrue();
		control.kill();
		control.awaitEnd();
		Awaitility.await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> {
			assertThat(server.isAlive()).isFalse();
			assertThat(serverDirectories()).isEmpty();
		});
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
	void killedHolderIsSucceededAfterItsLeaseWithAHigherToken() throws Exception {
		sales.assertKilledHolderIsSucceeded(LEASE);
	}

	@Test
	void lateWriteOfAFrozenHolderIsRefused() throws Exception {
		sales.assertLateWriteOfAFrozenHolderIsRefused(FREEZE_SECONDS);
	}

	@Test
	void serverRefusesCommandsWithoutThePassword() throws IOException {
		assertThat(replyOfServer("PING")).startsWith("-NOAUTH");
	}

	@Test
	void serverListensOnTheLoopbackInterfaceOnly() throws IOException {
		assertThat(ListeningSockets.of(server().pid())).hasSize(1).allMatch(ListeningSockets::isLoopback);
	}

	private static String replyOfServer(String command) throws IOException {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port())) {
			socket.setSoTimeout(5000);
			socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
			return new String(socket.getInputStream().readNBytes(7), StandardCharsets.US_ASCII);
		}
	}

	private static int port() throws IOException {
		String configuration = Files.readString(serverDirectories().get(0).resolve("redis.conf"));
		Matcher port = PORT.matcher(configuration);
		assertThat(port.find()).as(configuration).isTrue();
		return Integer.parseInt(port.group(1));
	}

	/** Finds the only process whose program is in the server's directory. */
	private static ProcessHandle server() throws IOException {
		String program = serverDirectories().get(0).resolve("redis-server").toString();
		return ProcessHandle.allProcesses()
			.filter((process) -> process.info().command().filter(program::equals).isPresent())
			.findFirst()
			.orElseThrow();
	}

	private static List<Path> serverDirectories() throws IOException {
		try (Stream<Path> files = Files.list(directory)) {
			return files.filter((file) -> file.getFileName().toString().startsWith("distributed-lock-sample")).toList();
		}
	}

}
