package io.distributedlock.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * At no time two holders are told that they hold the lock. A holder that stands still and
 * works on later is not told so, and does not count: only a fence stops it. No fault of a
 * run explains this, since none takes data from the store.
 */
final class SingleBelief implements HistoryRule {

	@Override
	public List<String> violations(History history) {
		List<String> violations = new ArrayList<>();
		for (String key : history.calls().keySet()) {
			LockCall last = null;
			for (LockCall call : history.grants(key)) {
				if (call.heldUntil().isEmpty()) {
					continue;
				}
				long overlap = (last != null) ? Math.min(heldUntil(last), call.heldUntil().getAsLong()) - call.endedAt()
						: -1;
				if (overlap > 0) {
					violations.add(last + " and " + call + " both held the lock for "
							+ Duration.ofNanos(overlap).toMillis() + " ms");
				}
				last = (last == null || heldUntil(last) < heldUntil(call)) ? call : last;
			}
		}
		return violations;
	}

	private static long heldUntil(LockCall call) {
		return call.heldUntil().orElseThrow();
	}

}
