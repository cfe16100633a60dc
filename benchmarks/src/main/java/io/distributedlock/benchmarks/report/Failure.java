package io.distributedlock.benchmarks.report;

import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * What could not be measured.
 *
 * @param store the store
 * @param scenario the scenario, or {@code null} for all of the store
 * @param contender the contender, or {@code null} for all
 * @param reason why
 */
public record Failure(String store, @Nullable String scenario, @Nullable String contender, String reason) {

	/** Whether there is nothing to compare with: not just another library has failed. */
	boolean leavesNothingToCompare() {
		return this.contender == null || this.contender.startsWith("ours") || this.contender.startsWith("raw");
	}

	/** Whether a row is of the scenario. */
	boolean isAbout(Row row) {
		return this.store.equals(row.store()) && (this.scenario == null || this.scenario.equals(row.scenario()));
	}

	/** Whether another failure is that of the same contender in the same scenario. */
	public boolean isOfSame(Failure other) {
		return what().equals(other.what());
	}

	private String what() {
		return Stream.of(this.store, this.scenario, this.contender)
			.filter(Objects::nonNull)
			.collect(Collectors.joining(" · "));
	}

	@Override
	public String toString() {
		return what() + ": " + this.reason;
	}

}
