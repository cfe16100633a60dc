package io.distributedlock.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

import io.distributedlock.LockMode;

/**
 * What a run has shown.
 *
 * @param store the store
 * @param seed the seed
 * @param seconds for how long faults were injected
 * @param acquisitions the number of granted calls
 * @param contended those that another process had to release the lock for, by modes
 * @param afterShares exclusive ones that waited for shares of another process
 * @param faults the effective faults by kind
 * @param writes what the fenced register did
 * @param overlap how long work went on after the next holder had the lock
 * @param takeover the time from a kill to the next holder, where all else was well
 * @param overrun by how much calls took longer than their wait time or the call time-out
 * @param lossesExplained the losses for which a fault is the reason
 * @param lossesUnexplained the others
 * @param residue the entries that the store had at the end
 * @param loadAllowanceMillis what each limit of time allows for the machine
 * @param stalledMillis for how long processes got no processor, which does not count
 * @param violations what the checker has found, at most {@link #MOST} of each rule
 * @param unmetGuards what the run would have to have more of to be a proof
 */
record ChaosReport(String store, long seed, long seconds, long acquisitions, Map<LockMode, Long> contended,
		long afterShares, Map<FaultKind, Long> faults, Writes writes, Spread overlap, Spread takeover, Spread overrun,
		long lossesExplained, long lossesUnexplained, long residue, long loadAllowanceMillis, long stalledMillis,
		Map<String, List<String>> violations, List<String> unmetGuards) {

	private static final int MOST = 20;

	/** Far less than a run has, and more than one that has stood still. */
	private static final Map<LockMode, Long> CONTENDED_PER_MINUTE = Map.of(LockMode.EXCLUSIVE, 60L, LockMode.SHARED,
			10L, LockMode.PERMIT, 10L);

	static ChaosReport of(ChaosRun run, History history) {
		Bounds bounds = run.bounds();
		Map<String, List<String>> violations = new TreeMap<>();
		for (HistoryRule rule : HistoryRule.all(bounds)) {
			List<String> found = rule.violations(history);
			if (!found.isEmpty()) {
				violations.put(rule.getClass().getSimpleName(), found.stream().limit(MOST).toList());
			}
		}
		ChaosFigures figures = new ChaosFigures(history);
		Map<FaultKind, Long> faults = history.faults()
			.stream()
			.filter((fault) -> fault.effects() > 0)
			.collect(Collectors.groupingBy(Fault::kind, TreeMap::new, Collectors.counting()));
		long unexplained = new ExplainedLosses(bounds).violations(history).size();
		Writes writes = figures.writes(run.register().staleInTwin());
		List<String> unmet = unmetGuards(run, faults, figures, writes);
		return new ChaosReport(run.settings().store().toString(), run.settings().seed(),
				run.settings().time().toSeconds(), history.calls(LockCall::isGranted).size(), figures.contended(),
				figures.afterShares(), faults, writes, figures.overlap(), figures.takeover(bounds), figures.overrun(),
				history.calls(LockCall::isLost).size() - unexplained, unexplained, history.residue().orElse(-1),
				bounds.load().toMillis(), Duration.ofNanos(history.stalled()).toMillis(), violations, unmet);
	}

	private static List<String> unmetGuards(ChaosRun run, Map<FaultKind, Long> faults, ChaosFigures figures,
			Writes writes) {
		List<String> unmet = new ArrayList<>();
		for (FaultKind.Lane lane : FaultKind.Lane.values()) {
			run.faults(lane)
				.stream()
				.filter((kind) -> !faults.containsKey(kind))
				.forEach((kind) -> unmet.add("no effective " + kind));
		}
		long seconds = run.settings().time().toSeconds();
		Map<LockMode, Long> contended = figures.contended();
		CONTENDED_PER_MINUTE.forEach((mode, needed) -> {
			if (contended.getOrDefault(mode, 0L) < needed * seconds / 60
					&& (mode != LockMode.PERMIT || run.bounds().queued())) {
				unmet.add(contended.get(mode) + " contended grants that are " + mode);
			}
		});
		if (figures.afterShares() < CONTENDED_PER_MINUTE.get(LockMode.SHARED) * seconds / 60) {
			unmet.add(figures.afterShares() + " exclusive grants after shares");
		}
		if (writes.refused() == 0) {
			unmet.add("no stale write was refused");
		}
		return unmet;
	}

	/** Writes {@code report.json} and {@code summary.txt}. */
	void write(Path folder) throws IOException {
		JsonMapper json = JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();
		Files.writeString(folder.resolve("report.json"), json.writeValueAsString(this));
		Files.writeString(folder.resolve("summary.txt"), this + "\n");
	}

	/**
	 * The writes to the register.
	 *
	 * @param accepted those that it has accepted
	 * @param refused stale ones that it has refused
	 * @param admitted stale ones that it has accepted
	 * @param staleWithoutFence stale ones that its twin without a fence has accepted
	 */
	record Writes(long accepted, long refused, long admitted, long staleWithoutFence) {
	}

	/**
	 * Some durations.
	 *
	 * @param count how many
	 * @param p99Millis which one of a hundred is longer than
	 * @param maxMillis the longest
	 */
	record Spread(long count, long p99Millis, long maxMillis) {

		static Spread of(List<Long> nanos) {
			List<Long> sorted = nanos.stream().sorted().toList();
			return sorted.isEmpty() ? new Spread(0, 0, 0) : new Spread(sorted.size(),
					millis(sorted.get((sorted.size() * 99 - 1) / 100)), millis(sorted.get(sorted.size() - 1)));
		}

		private static long millis(long nanos) {
			return Duration.ofNanos(nanos).toMillis();
		}

	}

}
