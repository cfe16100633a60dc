package io.distributedlock.chaos;

import java.util.List;

/** One promise, as the history of a run has to keep it. */
@FunctionalInterface
interface HistoryRule {

	/** All that a history has to keep. */
	static List<HistoryRule> all(Bounds bounds) {
		return List.of(new RisingTokens(), new FencedWrites(), new SingleBelief(), new TimelyEnds(bounds),
				new ExplainedLosses(bounds), new ToldLosses(), new ServedWaiters(bounds), new TimelyTakeovers(bounds),
				new EmptyStore());
	}

	/**
	 * Checks a history.
	 * @return what breaks the promise, one sentence each
	 */
	List<String> violations(History history);

}
