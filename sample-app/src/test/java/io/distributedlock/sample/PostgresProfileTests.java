package io.distributedlock.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

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
class PostgresProfileTests {

	private static Path directory;

	private static ControlProcess control;

	@BeforeAll
	static void start(@TempDir Path temporary) throws IOException {
		directory = temporary;
		control = new ControlProcess(directory, Map.of("SPRING_PROFILES_ACTIVE", "postgres"));
	}

	@AfterAll
	static void killingEndsTheServerAndRemovesItsFiles() throws IOException {
		ProcessHandle server = ProcessHandle.of(Long.parseLong(postmaster().get(0))).orElseThrow();
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
		JsonNode status = control.get("/api/status");
		assertThat(status.at("/off/oversold").asInt()).isPositive();
		assertThat(status.at("/on/oversold").asInt()).isZero();
		assertThat(status.at("/on/sold").asInt()).isEqualTo(50);
		// A slow machine may keep a worker from a whole sale.
		JsonNode result = Awaitility.await().atMost(Duration.ofMinutes(3)).until(() -> {
			JsonNode sale = control.post("/api/sales?lock=on");
			assertThat(sale.get("oversold").asInt()).isZero();
			assertThat(sale.get("sold").asInt()).isEqualTo(50);
			return sale;
		}, (sale) -> sale.get("processes").size() == 3);
		assertThat(result.get("processes").valueStream().map(JsonNode::asLong))
			.containsExactlyInAnyOrderElementsOf(control.workers().stream().map(ProcessHandle::pid).toList());
	}

	@Test
	void refusesConnectionsWithoutThePassword() throws Exception {
		String url = "jdbc:postgresql://127.0.0.1:" + postmaster().get(3) + "/postgres";
		assertThatExceptionOfType(SQLException.class)
			.isThrownBy(() -> DriverManager.getConnection(url, "postgres", "postgres").close())
			.satisfies((refusal) -> assertThat(refusal.getSQLState()).isEqualTo("28P01"));
	}

	/**
	 * Reads the server's own file: its first line is the process id, its fourth the port.
	 */
	private static List<String> postmaster() throws IOException {
		return Files.readAllLines(serverDirectories().get(0).resolve("data/postmaster.pid"));
	}

	private static List<Path> serverDirectories() throws IOException {
		try (Stream<Path> files = Files.list(directory)) {
			return files.filter((file) -> file.getFileName().toString().startsWith("distributed-lock-sample")).toList();
		}
	}

}
