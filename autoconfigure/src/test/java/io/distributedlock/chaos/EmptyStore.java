package io.distributedlock.chaos;

import java.util.List;

/** When all processes have ended and all leases are over, the store has no entry left. */
final class EmptyStore implements HistoryRule {

	@Override
	public List<String> violations(History history) {
		long residue = history.residue().orElse(0);
		return (residue > 0) ? List.of("the store still has " + residue + " entries") : List.of();
	}

}
