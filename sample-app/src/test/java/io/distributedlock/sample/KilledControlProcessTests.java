package io.distributedlock.sample;

import java.nio.file.Path;
import java.time.Duration;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("full")
class KilledControlProcessTests {

	private ControlProcess control;

	@BeforeEach
	void start(@TempDir Path directory) throws Exception {
		this.control = new ControlProcess(directory);
		assertThat(this.control.workers()).hasSize(3).allMatch(ProcessHandle::isAlive);
	}

	@AfterEach
	void close() {
		this.control.close();
	}

	@Test
	void workersEndWithTheirControlProcessEvenFrozenOnes() throws Exception {
		long worker = this.control.workers().get(0).pid();
		JsonNode state = this.control.post("/api/workers/" + worker + "/freeze?seconds=120");
		assertThat(state.get("state").asString()).isEqualTo("frozen");
		this.control.kill();
		this.control.awaitEnd(Duration.ofSeconds(20));
	}

}
