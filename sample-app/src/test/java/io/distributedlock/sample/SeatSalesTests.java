package io.distributedlock.sample;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("full")
class SeatSalesTests {

	private static ControlProcess control;

	@BeforeAll
	static void start(@TempDir Path directory) throws IOException {
		control = new ControlProcess(directory);
	}

	@AfterAll
	static void stoppingEndsTheWorkers() {
		try (ControlProcess stopped = control) {
			stopped.stop();
			stopped.awaitEnd();
		}
	}

	@Test
	void sellsSeatsTwiceWithoutTheLock() throws Exception {
		JsonNode result = Awaitility.await()
			.atMost(Duration.ofMinutes(3))
			.until(() -> control.post("/api/sales?lock=off"), (sale) -> sale.get("oversold").asInt() > 0);
		assertThat(result.get("capacity").asInt()).isEqualTo(50);
		assertThat(result.get("sold").asInt()).isGreaterThan(50);
		assertThat(result.get("oversold").asInt()).isEqualTo(result.get("sold").asInt() - 50);
	}

	@Test
	void sellsEachSeatOnceWithTheLock() throws Exception {
		// A slow machine may keep a worker from a whole sale.
		JsonNode result = Awaitility.await().atMost(Duration.ofMinutes(3)).until(() -> {
			JsonNode sale = control.post("/api/sales?lock=on");
			assertSoldOnceByWorkers(sale);
			return sale;
		}, (sale) -> sale.get("processes").size() == 3);
		assertThat(processes(result)).containsExactlyInAnyOrderElementsOf(workers());
	}

	@Test
	void hasSoldBothWaysWhenItIsUp() throws Exception {
		JsonNode status = control.get("/api/status");
		assertThat(status.at("/off/oversold").asInt()).isPositive();
		assertSoldOnceByWorkers(status.get("on"));
		assertThat(control.console()).containsPattern("lock=off: \\d+ of 50 seats sold by \\d processes")
			.containsPattern("lock=on: 50 of 50 seats sold by \\d processes");
	}

	@Test
	@EnabledOnOs(OS.LINUX)
	void listensOnTheLoopbackInterfaceOnly() throws IOException {
		assertThat(ListeningSockets.of(control.pid())).hasSize(2).allMatch(ListeningSockets::isLoopback);
		assertThat(control.workers()).allSatisfy((worker) -> assertThat(ListeningSockets.of(worker.pid())).hasSize(1)
			.allMatch(ListeningSockets::isLoopback));
	}

	private static void assertSoldOnceByWorkers(JsonNode result) {
		assertThat(result.get("oversold").asInt()).isZero();
		assertThat(result.get("sold").asInt()).isEqualTo(50);
		assertThat(result.get("capacity").asInt()).isEqualTo(50);
		assertThat(processes(result)).isNotEmpty().isSubsetOf(workers());
	}

	private static List<Long> processes(JsonNode result) {
		return result.get("processes").valueStream().map(JsonNode::asLong).toList();
	}

	private static List<Long> workers() {
		return control.workers().stream().map(ProcessHandle::pid).toList();
	}

}
