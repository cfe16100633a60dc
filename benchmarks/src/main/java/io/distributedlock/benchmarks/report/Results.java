package io.distributedlock.benchmarks.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The results of a run.
 *
 * @param about the machine
 * @param rows the figures
 * @param failures what went wrong
 */
public record Results(Map<String, String> about, List<Row> rows, List<String> failures) {

	private static final JsonMapper JSON = JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

	/**
	 * Creates the results of a run on this machine.
	 * @param options what the run was asked for
	 * @param rows the figures
	 * @param failures what went wrong
	 */
	public static Results of(String options, List<Row> rows, List<String> failures) {
		Map<String, String> about = new LinkedHashMap<>();
		about.put("date", LocalDate.now(ZoneOffset.UTC).toString());
		about.put("command", ("benchmarks/run.sh " + options).strip());
		about.put("processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
		about.put("processor", processor());
		about.put("system", System.getProperty("os.name") + " " + System.getProperty("os.arch"));
		about.put("java", System.getProperty("java.vm.name") + " " + System.getProperty("java.version"));
		return new Results(about, rows.stream().map(Row::rounded).toList(), List.copyOf(failures));
	}

	private static String processor() {
		try {
			return Files.readAllLines(Path.of("/proc/cpuinfo"))
				.stream()
				.filter((line) -> line.startsWith("model name"))
				.map((line) -> line.replaceFirst("^[^:]*: *", ""))
				.findFirst()
				.orElse("unknown");
		}
		catch (IOException ex) {
			return "unknown";
		}
	}

	/** Reads results. */
	static Results read(Path file) {
		return JSON.readValue(file.toFile(), Results.class);
	}

	/** Writes the results. */
	public void write(Path file) {
		try {
			Files.createDirectories(file.getParent());
			Files.writeString(file, JSON.writeValueAsString(this) + "\n");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
