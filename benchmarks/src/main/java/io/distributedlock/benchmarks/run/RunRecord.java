package io.distributedlock.benchmarks.run;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.report.Failure;
import io.distributedlock.benchmarks.report.Results;
import io.distributedlock.benchmarks.scenario.Measurement;

/**
 * The results of a run so far, written after each measurement: a run of hours that is
 * interrupted has not measured in vain.
 */
final class RunRecord {

	private final Path file;

	private final RunFolder folder;

	private final String options;

	private final Measurements measurements = new Measurements();

	private final List<Failure> failures = new ArrayList<>();

	private boolean complete;

	/**
	 * Creates an empty record.
	 * @param file where the results are written
	 * @param folder the folder of the run
	 * @param options what the run was asked for
	 */
	RunRecord(Path file, RunFolder folder, String options) {
		this.file = file;
		this.folder = folder;
		this.options = options;
	}

	void add(String scenario, String store, Library library, int round, Measurement measurement) {
		this.measurements.add(scenario, store, library, round, measurement);
		write();
	}

	/** Excludes a contender that let two holders in, with all its rounds. */
	void exclude(String scenario, String store, Library library) {
		this.measurements.exclude(scenario, store, library);
	}

	/** Records that everything that was asked for has been measured. */
	void complete() {
		this.complete = true;
		write();
	}

	/** Records what could not be measured, once for all rounds of a contender. */
	void fail(Failure failure) {
		if (this.failures.stream().noneMatch(failure::isOfSame)) {
			this.failures.add(failure);
			write();
		}
	}

	Results results() {
		return Results.of(this.options, this.complete, this.measurements.rows(), this.failures);
	}

	/**
	 * Writes the results in one step, so that a run that is interrupted leaves whole
	 * ones.
	 */
	private void write() {
		Path draft = this.folder.path().resolve("results.json");
		try {
			results().write(draft);
			Files.move(draft, this.file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
