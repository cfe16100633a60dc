package io.distributedlock.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

import static org.assertj.core.api.Assertions.assertThat;

/** The file for Docker Compose, as far as it can be checked without Docker. */
class ComposeFileTests {

	private static final Path FILE = Path.of("compose.yaml");

	private Map<String, Map<String, Object>> services;

	private Map<String, Map<String, String>> configs;

	@BeforeEach
	void read() throws IOException {
		Map<String, Map<String, Map<String, Object>>> file = new Yaml().load(Files.readString(FILE));
		Map<String, Map<String, Map<String, String>>> texts = new Yaml().load(Files.readString(FILE));
		this.services = file.get("services");
		this.configs = texts.get("configs");
	}

	@Test
	void hasTheServersOfAllProfilesAndTheirMonitoring() {
		assertThat(this.services).containsOnlyKeys("redis", "postgres", "mysql", "zookeeper", "prometheus", "grafana");
		assertThat(this.services.values())
			.allSatisfy((service) -> assertThat(service.get("image").toString()).matches("[a-z/]+:v?\\d+[.\\d]*"));
	}

	@Test
	void opensPortsForThisMachineOnly() {
		assertThat(this.services.values()).allSatisfy((service) -> {
			if (!"host".equals(service.get("network_mode"))) {
				assertThat(list(service, "ports")).isNotEmpty()
					.allMatch((port) -> port.toString().startsWith("127.0.0.1:"));
			}
		});
	}

	@Test
	void mountsFilesThatExist() {
		List<Path> mounted = this.services.values()
			.stream()
			.flatMap((service) -> list(service, "volumes").stream())
			.map((volume) -> Path.of(volume.toString().split(":", 2)[0]))
			.toList();
		assertThat(mounted).hasSize(2).allMatch(Files::isRegularFile);
	}

	@Test
	void definesTheConfigurationsThatServicesUse() {
		Stream<String> used = this.services.values()
			.stream()
			.flatMap((service) -> list(service, "configs").stream())
			.map((config) -> ((Map<?, ?>) config).get("source").toString());
		assertThat(used).containsExactlyInAnyOrderElementsOf(this.configs.keySet());
		assertThat(this.configs.values()).allSatisfy((config) -> {
			Map<String, Object> content = new Yaml().load(config.get("content"));
			assertThat(content).isNotEmpty();
		});
	}

	private static List<?> list(Map<String, Object> service, String name) {
		return (List<?>) service.getOrDefault(name, List.of());
	}

}
