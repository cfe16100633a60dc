package io.distributedlock.benchmarks.run;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.report.Failure;
import io.distributedlock.benchmarks.report.Results;
import io.distributedlock.benchmarks.scenario.Figure;
import io.distributedlock.benchmarks.scenario.Latencies;
import io.distributedlock.benchmarks.scenario.Measurement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * A run that was interrupted goes on with what it has measured.
 */
@Tag("full")
class JournalTests {

	private static final String COMMAND = "--all";

	@TempDir
	private Path target;

	private Path file;

	private RunFolder folder;

	@BeforeEach
	void createFolder() {
		this.file = this.target.resolve("journal.jsonl");
		this.folder = RunFolder.create(this.target);
	}

	@Test
	void resumedRunHasTheFiguresOfTheRunBefore() {
		RunRecord before = record(Journal.begin(this.file, COMMAND));
		before.add("uncontended-1", "redis", Library.OURS, 0, measurement(100, 0));
		before.add("uncontended-1", "redis", Library.RAW, 0, measurement(200, 0));
		RunRecord resumed = record(Journal.resume(this.file, COMMAND));
		assertThat(resumed.results().rows()).isNotEmpty().isEqualTo(before.results().rows());
		assertThat(resumed.isSettled("uncontended-1", "redis", Library.OURS, 0)).isTrue();
		assertThat(resumed.isSettled("uncontended-1", "redis", Library.OURS, 1)).isFalse();
	}

	@Test
	void contenderThatLetTwoHoldersInStaysExcluded() {
		record(Journal.begin(this.file, COMMAND)).add("hot-key-8x1", "redis", Library.LOCK4J, 0, measurement(100, 3));
		Results resumed = record(Journal.resume(this.file, COMMAND)).results();
		assertThat(resumed.rows()).isEmpty();
		assertThat(resumed.failures()).singleElement()
			.asString()
			.startsWith("redis · hot-key-8x1 · lock4j: two holders at once");
	}

	@Test
	void contenderThatFailedIsMeasuredAgainInAResumedRunAlone() {
		RunRecord before = record(Journal.begin(this.file, COMMAND));
		before.fail(new Failure("h2", "uncontended-16", "shedlock", "timeout"));
		assertThat(before.isSettled("uncontended-16", "h2", Library.SHEDLOCK, 1)).isTrue();
		assertThat(before.isSettled("uncontended-16", "h2", Library.OURS, 1)).isFalse();
		RunRecord resumed = record(Journal.resume(this.file, COMMAND));
		assertThat(resumed.isSettled("uncontended-16", "h2", Library.SHEDLOCK, 1)).isFalse();
	}

	@Test
	void lineThatWasNotWrittenToItsEndIsMeasuredAgain() throws Exception {
		RunRecord before = record(Journal.begin(this.file, COMMAND));
		before.add("uncontended-1", "redis", Library.OURS, 0, measurement(100, 0));
		Files.writeString(this.file, "{\"scenario\":\"uncontended-1\",\"sto", StandardOpenOption.APPEND);
		RunRecord resumed = record(Journal.resume(this.file, COMMAND));
		resumed.add("uncontended-1", "redis", Library.OURS, 1, measurement(200, 0));
		assertThat(record(Journal.resume(this.file, COMMAND)).results().rows()).filteredOn("metric", "throughput")
			.singleElement()
			.satisfies((row) -> assertThat(row.rounds()).isEqualTo(2));
	}

	@Test
	void runOfOtherArgumentsIsNotResumed() {
		Journal.begin(this.file, COMMAND);
		assertThatIllegalArgumentException().isThrownBy(() -> Journal.resume(this.file, "--all --rounds 2"))
			.withMessage("There is no run of these arguments to resume; the last one was '--all'");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Journal.resume(this.target.resolve("missing.jsonl"), COMMAND));
	}

	private RunRecord record(Journal journal) {
		return new RunRecord(this.target.resolve("results.json"), this.folder, COMMAND, journal);
	}

	private static Measurement measurement(double throughput, int lostUpdates) {
		Histogram waits = Latencies.newHistogram();
		waits.recordValueWithCount(Duration.ofMillis(3).toNanos(), 2000);
		return new Measurement(List.of(new Figure("throughput", throughput, "locks/s"),
				new Figure(Figure.LOST_UPDATES, lostUpdates, "count")), Map.of("wait", waits));
	}

}
