package io.distributedlock.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * At no time two holders are told that they hold the lock, unless both have shares, of
 * which there are never more than each of them permits. A holder that stands still and
 * works on later is not told so, and does not count: only a fence stops it. No fault of a
 * run explains this, since none takes data from the store.
 */
final class SingleBelief implements HistoryRule {

	@Override
	public List<String> violations(History history) {
		List<String> violations = new ArrayList<>();
		for (String key : history.calls().keySet()) {
			List<LockCall> holders = new ArrayList<>();
			for (LockCall call : history.grants(key)) {
				holders.removeIf((holder) -> holder.heldUntil() <= call.endedAt());
				if (call.heldUntil() > call.endedAt()) {
					check(call, holders, violations);
					holders.add(call);
				}
			}
		}
		return violations;
	}

	private static void check(LockCall call, List<LockCall> holders, List<String> violations) {
		for (LockCall holder : holders) {
			if (holder.excludes(call)) {
				long overlap = Math.min(holder.heldUntil(), call.heldUntil()) - call.endedAt();
				violations.add(holder + " and " + call + " both held the lock for "
						+ Duration.ofNanos(overlap).toMillis() + " ms");
			}
		}
		if (call.permits() > 0
				&& holders.stream().filter((holder) -> holder.permits() == call.permits()).count() >= call.permits()) {
			violations.add(call + " had a share beside those of " + holders);
		}
	}

}
