package io.distributedlock.sample;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("matrix")
@EnabledIf(value = "isRunnable", disabledReason = "MySQL does not run on this machine: install libaio1 and libnuma1")
@Tag("full")
class MySqlProfileTests {

	private static final Path LIBRARIES = Path.of("/usr/lib/x86_64-linux-gnu");

	@TempDir
	private Path directory;

	static boolean isRunnable() {
		return Stream.of("libaio.so.1", "libnuma.so.1").map(LIBRARIES::resolve).allMatch(Files::exists);
	}

	@Test
	void sellsEachSeatOnceAndLeavesNothingBehindWhenItIsKilled() throws Exception {
		try (ControlProcess control = new ControlProcess(this.directory, Map.of("SPRING_PROFILES_ACTIVE", "mysql"))) {
			JsonNode sale = control.post("/api/sales?lock=on");
			assertThat(sale.get("oversold").asInt()).isZero();
			assertThat(sale.get("sold").asInt()).isEqualTo(50);
			assertThat(control.get("/api/state").get("store").asString()).startsWith("MySQL 8");
			ProcessHandle server = ProcessHandle.of(Long.parseLong(Files.readString(serverDirectory().resolve("pid"))))
				.orElseThrow();
			control.kill();
			control.awaitEnd();
			Awaitility.await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> {
				assertThat(server.isAlive()).isFalse();
				assertThat(serverDirectory()).isNull();
			});
		}
	}

	private Path serverDirectory() throws Exception {
		try (Stream<Path> files = Files.list(this.directory)) {
			return files.filter((file) -> file.getFileName().toString().startsWith("distributed-lock-sample"))
				.findFirst()
				.orElse(null);
		}
	}

}
