package io.distributedlock.sample;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

import io.distributedlock.sample.control.RunningRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A server that the user names on the command line is used in place of an embedded one.
 */
@Tag("matrix")
class OwnServerTests {

	@TempDir
	private Path directory;

	@Test
	void workersUseTheRedisServerOfTheCommandLine() throws Exception {
		try (RunningRedis redis = new RunningRedis();
				ControlProcess control = new ControlProcess(this.directory, Map.of("SPRING_PROFILES_ACTIVE", "redis"),
						System.getProperty("java.class.path"), "--spring.data.redis.host=127.0.0.1",
						"--spring.data.redis.port=" + redis.port(),
						"--spring.data.redis.password=" + redis.password())) {
			JsonNode sale = control.post("/api/sales?lock=on");
			assertThat(sale.get("oversold").asInt()).isZero();
			assertThat(sale.get("sold").asInt()).isEqualTo(50);
			assertThat(redis.template().keys("*")).isNotEmpty();
			try (Stream<Path> files = Files.list(this.directory)) {
				assertThat(files).noneMatch((file) -> file.getFileName().toString().startsWith("distributed-lock"));
			}
			control.stop();
			control.awaitEnd();
		}
	}

}
