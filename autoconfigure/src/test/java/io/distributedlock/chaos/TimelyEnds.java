package io.distributedlock.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.distributedlock.chaos.LockCall.End;

/**
 * Each call ends within the longer of its wait time and the call time-out, and each
 * release within the call time-out, in a way that is documented. The time in which the
 * process stood still does not count.
 */
final class TimelyEnds implements HistoryRule {

	private final Bounds bounds;

	TimelyEnds(Bounds bounds) {
		this.bounds = bounds;
	}

	@Override
	public List<String> violations(History history) {
		List<String> violations = new ArrayList<>();
		for (LockCall call : history.calls((any) -> true)) {
			if (call.end() == End.UNKNOWN) {
				violations.add(call + " ended in a way that is not documented");
			}
			check(history, call, "call", call.calledAt(), call.endedAt(), this.bounds.within(call.limit()), violations);
			if (call.releaseAt() != LockCall.NEVER) {
				check(history, call, "release", call.releaseAt(), call.releasedAt(), this.bounds.releaseLimit(),
						violations);
			}
		}
		return violations;
	}

	private void check(History history, LockCall call, String what, long begin, long end, long limit,
			List<String> violations) {
		if (end == LockCall.NEVER) {
			if (history.deathOf(call.process()) == LockCall.NEVER) {
				violations.add("the " + what + " of " + call + " has not ended");
			}
		}
		else if (history.running(call.process(), begin, end) > limit) {
			violations.add("the " + what + " of " + call + " took "
					+ Duration.ofNanos(history.running(call.process(), begin, end)).toMillis() + " ms, "
					+ Duration.ofNanos(limit).toMillis() + " are the limit");
		}
	}

}
