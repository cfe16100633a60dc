package io.distributedlock.benchmarks.scenario;

import java.util.List;
import java.util.Set;

/**
 * All scenarios.
 */
public final class Scenarios {

	/** How often 10,000 locks are acquired and released before they are measured. */
	private static final int REFILLS = 100;

	private static final Set<String> QUICK = Set.of("uncontended-1", "uncontended-16", "hot-key-1x16",
			"read-mostly-1x16", "hand-over", "reentry");

	private Scenarios() {
	}

	/** Creates the scenarios, in the order in which they run. */
	public static List<Scenario> all() {
		return List.of(new Uncontended(1), new Uncontended(16), new FirstSeconds(), new HotKey(1, 16), new HotKey(2, 8),
				new HotKey(8, 1), new ReadMostly(1, 16), new ReadMostly(2, 8), new HandOver(), new Reentry(),
				new VirtualThreads(), new ManyWaiters(), new StartUp(), new HeldLocks(0), new HeldLocks(REFILLS),
				new DistinctKeys(), new FencedTransactions());
	}

	/** Whether a scenario belongs to the short run. */
	public static boolean isQuick(Scenario scenario) {
		return QUICK.contains(scenario.name());
	}

	/** Returns the scenario with a name. */
	public static Scenario of(String name) {
		return all().stream()
			.filter((scenario) -> scenario.name().equals(name))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException(
					"There is no scenario '" + name + "', only " + all().stream().map(Scenario::name).toList()));
	}

}
