package io.distributedlock.benchmarks.run;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.report.Failure;
import io.distributedlock.benchmarks.report.Results;
import io.distributedlock.benchmarks.scenario.Measurement;

/**
 * The results of a run so far, written after each measurement: a run of hours that is
 * interrupted has not measured in vain.
 */
final class RunRecord {

	/** Why a contender that does not exclude has no figures. */
	static final String VIOLATION = "two holders at once";

	private final Path file;

	private final RunFolder folder;

	private final String options;

	private final Journal journal;

	private final Measurements measurements = new Measurements();

	private final Set<List<Object>> measured = new HashSet<>();

	private final List<Failure> failures = new ArrayList<>();

	private boolean complete;

	/**
	 * Creates a record.
	 * @param file where the results are written
	 * @param folder the folder of the run
	 * @param options what the run was asked for
	 * @param journal the measurements so far, none in a new run
	 */
	RunRecord(Path file, RunFolder folder, String options, Journal journal) {
		this.file = file;
		this.folder = folder;
		this.options = options;
		this.journal = journal;
		journal.entries().forEach(this::keep);
	}

	/**
	 * Adds a measurement. A contender that let two holders in is excluded from the
	 * scenario, with all its rounds.
	 */
	void add(String scenario, String store, Library library, int round, Measurement measurement) {
		Journal.Entry entry = Journal.Entry.of(scenario, store, library, round, measurement);
		this.journal.add(entry);
		keep(entry);
		write();
	}

	private void keep(Journal.Entry entry) {
		Measurement measurement = entry.measurement();
		this.measured.add(List.of(entry.scenario(), entry.store(), entry.library(), entry.round()));
		if (measurement.isViolation()) {
			this.measurements.exclude(entry.scenario(), entry.store(), entry.library());
			fail(new Failure(entry.store(), entry.scenario(), entry.library().label(),
					VIOLATION + ": " + measurement.figures()));
		}
		else {
			this.measurements.add(entry.scenario(), entry.store(), entry.library(), entry.round(), measurement);
		}
	}

	/**
	 * Whether a contender need not be measured: this round was, or an earlier round of
	 * this run has failed, so that its figures do not count.
	 */
	boolean isSettled(String scenario, String store, Library library, int round) {
		Failure failure = new Failure(store, scenario, library.label(), "");
		return this.measured.contains(List.of(scenario, store, library, round))
				|| this.failures.stream().anyMatch(failure::isOfSame);
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
