package io.distributedlock.chaos;

import java.util.List;
import java.util.stream.Stream;

/**
 * No lock is lost without a fault of its process, of its connection or of the store, or
 * without a time in which the process or the store got no processor.
 */
final class ExplainedLosses implements HistoryRule {

	private final Bounds bounds;

	ExplainedLosses(Bounds bounds) {
		this.bounds = bounds;
	}

	@Override
	public List<String> violations(History history) {
		return history.calls((call) -> call.isLost() && !isExplained(history, call))
			.stream()
			.map((call) -> call + " was lost without a fault that explains it")
			.toList();
	}

	private boolean isExplained(History history, LockCall call) {
		long stall = this.bounds.callTimeout().toNanos() / 2;
		return isExplainedByAFault(history, call) || Stream.of(call.process(), HistoryEvent.STORE)
			.flatMap((stalled) -> history.stalls(stalled).stream())
			.anyMatch((span) -> span.length() > stall
					&& span.touches(Math.max(call.calledAt(), call.lostAt() - this.bounds.aftermath()), call.lostAt()));
	}

	private boolean isExplainedByAFault(History history, LockCall call) {
		return history.faults()
			.stream()
			.filter((fault) -> fault.kind().explainsLoss() && fault.concerns(call.process()))
			.anyMatch((fault) -> fault.touches(call.calledAt() - this.bounds.aftermath(), call.lostAt()));
	}

}
