package io.distributedlock.sample;

import java.nio.file.Path;
import java.util.Map;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** Workers that were processed ahead of time sell under their locks in each store. */
@Tag("matrix")
@Tag("full")
class ProcessedWorkersTests {

	private static final String WORKER = "--spring.profiles.active=worker";

	@TempDir
	private Path directory;

	@Test
	void sellEachSeatOnceWithLocksInADatabase() throws Exception {
		assertThatSeatsAreSoldOnce("", WORKER);
	}

	@Test
	void sellEachSeatOnceWithLocksInPostgres() throws Exception {
		assertThatSeatsAreSoldOnce("postgres", WORKER);
	}

	@Test
	void sellEachSeatOnceWithLocksInRedis() throws Exception {
		assertThatSeatsAreSoldOnce("redis", WORKER + ",redis");
	}

	@Test
	void sellEachSeatOnceWithLocksInZooKeeper() throws Exception {
		// A condition asks for it; workers get the real one when they start.
		assertThatSeatsAreSoldOnce("zookeeper", WORKER + ",zookeeper",
				"--distributed-lock.zookeeper.connect-string=127.0.0.1:1");
	}

	private void assertThatSeatsAreSoldOnce(String profile, String... processing) throws Exception {
		ProcessedWorkers processed = ProcessedWorkers.process(this.directory, processing);
		Map<String, String> settings = Map.of("SPRING_PROFILES_ACTIVE", profile, "SAMPLE_WORKERS", "2");
		try (ControlProcess control = processed.start(this.directory, settings)) {
			assertThat(control.console().split("Starting AOT-processed SampleApplication", -1)).hasSize(3);
			JsonNode sale = control.post("/api/sales?lock=on");
			assertThat(sale.get("oversold").asInt()).isZero();
			assertThat(sale.get("sold").asInt()).isEqualTo(50);
			control.stop();
			control.awaitEnd();
		}
	}

}
