package io.distributedlock.chaos;

import java.util.List;

/** A holder that finds its lock gone at the end of its work is told the loss. */
final class ToldLosses implements HistoryRule {

	@Override
	public List<String> violations(History history) {
		return history.calls((call) -> call.releasedAt() != LockCall.NEVER && !call.isHeldToTheEnd() && !call.isLost())
			.stream()
			.map((call) -> call + " was not held to its end, and no loss was told")
			.toList();
	}

}
