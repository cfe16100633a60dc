package io.distributedlock.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that an application loads no class of a client that it does not use, although the
 * client is on its class path. What the conditions have to look for is all that they
 * load.
 */
@Tag("full")
class UnusedClientsTests {

	private static final String ZOOKEEPER = "org.apache.curator. org.apache.zookeeper. io.distributedlock.zookeeper.";

	private static final String REDIS = "io.lettuce. redis.clients. io.distributedlock.redis.";

	/** Classes that conditions look for, with what these are made of. */
	private static final Set<String> LOOKED_FOR = Set.of("org.apache.curator.framework.CuratorFramework",
			"org.apache.zookeeper.ZooKeeper");

	@TempDir
	private Path folder;

	@ParameterizedTest
	@CsvSource({ "local, " + ZOOKEEPER + " " + REDIS + " io.distributedlock.jdbc.",
			"jdbc, " + ZOOKEEPER + " " + REDIS })
	void classesOfUnusedClientsAreNotLoaded(String provider, String unused) throws Exception {
		List<String> loaded = loadedBy("--distributed-lock.provider=" + provider, "--spring.application.name=shop",
				"--spring.datasource.generate-unique-name=true");
		assertThat(loaded).contains("io.distributedlock.engine.LockTemplate");
		Set<String> wrong = loaded.stream()
			.filter((name) -> List.of(unused.trim().split(" +")).stream().anyMatch(name::startsWith))
			.filter((name) -> !LOOKED_FOR.contains(name))
			.collect(Collectors.toSet());
		assertThat(wrong).isEmpty();
	}

	private List<String> loadedBy(String... arguments) throws IOException, InterruptedException {
		Path log = this.folder.resolve("loaded.txt");
		Path output = this.folder.resolve("output.txt");
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1",
						"-Xlog:class+load:file=" + log, "-cp", System.getProperty("java.class.path"),
						UnusedClientsMain.class.getName()));
		command.addAll(List.of(arguments));
		Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
		assertThat(process.waitFor()).as(() -> read(output)).isZero();
		return Files.readAllLines(log)
			.stream()
			.map((line) -> line.replaceFirst("^(\\[[^]]*])*\\s*", "").split(" ")[0])
			.toList();
	}

	private static String read(Path file) {
		try {
			return Files.readString(file);
		}
		catch (IOException ex) {
			return ex.toString();
		}
	}

}
