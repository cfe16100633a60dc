package io.distributedlock.benchmarks.run;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.HdrHistogram.Histogram;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.scenario.Figure;
import io.distributedlock.benchmarks.scenario.Latencies;
import io.distributedlock.benchmarks.scenario.Measurement;

/**
 * A file with the command of a run and its measurements so far, one on each line, from
 * which an interrupted run is resumed.
 */
final class Journal {

	private static final JsonMapper JSON = JsonMapper.builder().build();

	private final Path file;

	private Journal(Path file) {
		this.file = file;
	}

	/** Begins a journal, and discards that of the last run. */
	static Journal begin(Path file, String command) {
		return new Journal(file).write(command, List.of());
	}

	/**
	 * Resumes the journal of the last run.
	 * @throws IllegalArgumentException if there is none, or if it is of another command
	 */
	static Journal resume(Path file, String command) {
		String last = Files.exists(file) ? lines(file).get(0) : "";
		if (!last.equals(command)) {
			throw new IllegalArgumentException(
					"There is no run of these arguments to resume; the last one was '" + last + "'");
		}
		Journal journal = new Journal(file);
		// The end of a line may be missing.
		return journal.write(command, journal.entries());
	}

	private Journal write(String command, List<Entry> entries) {
		List<String> lines = new ArrayList<>(List.of(command));
		entries.forEach((entry) -> lines.add(JSON.writeValueAsString(entry)));
		try {
			Files.createDirectories(this.file.getParent());
			Files.write(this.file, lines);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return this;
	}

	void add(Entry entry) {
		try {
			Files.write(this.file, List.of(JSON.writeValueAsString(entry)), StandardOpenOption.APPEND);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Returns the measurements; the last line of a run that was killed may be a part. */
	List<Entry> entries() {
		List<Entry> entries = new ArrayList<>();
		for (String line : lines(this.file).stream().skip(1).toList()) {
			try {
				entries.add(JSON.readValue(line, Entry.class));
			}
			catch (JacksonException ex) {
				break;
			}
		}
		return entries;
	}

	private static List<String> lines(Path file) {
		try {
			return Files.readAllLines(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * A measurement.
	 *
	 * @param scenario what was measured
	 * @param store where the locks were kept
	 * @param library who was measured
	 * @param round the round, from zero
	 * @param figures the figures
	 * @param latencies the histograms as texts
	 */
	record Entry(String scenario, String store, Library library, int round, List<Figure> figures,
			Map<String, String> latencies) {

		static Entry of(String scenario, String store, Library library, int round, Measurement measurement) {
			Map<String, String> latencies = new LinkedHashMap<>();
			measurement.latencies().forEach((name, histogram) -> latencies.put(name, Latencies.encode(histogram)));
			return new Entry(scenario, store, library, round, measurement.figures(), latencies);
		}

		Measurement measurement() {
			Map<String, Histogram> histograms = new LinkedHashMap<>();
			this.latencies.forEach((name, text) -> histograms.put(name, Latencies.decode(text)));
			return new Measurement(this.figures, histograms);
		}

	}

}
