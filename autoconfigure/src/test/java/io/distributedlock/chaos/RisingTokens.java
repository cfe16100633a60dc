package io.distributedlock.chaos;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The token of a grant is higher than those of all grants that were told before the call
 * was sent, and no two grants have the same.
 */
final class RisingTokens implements HistoryRule {

	@Override
	public List<String> violations(History history) {
		List<String> violations = new ArrayList<>();
		history.calls().keySet().forEach((key) -> check(history.grants(key), violations));
		return violations;
	}

	private static void check(List<LockCall> grants, List<String> violations) {
		Map<Long, LockCall> tokens = new HashMap<>();
		LockCall highest = null;
		int told = 0;
		for (LockCall call : grants.stream().sorted(Comparator.comparingLong(LockCall::calledAt)).toList()) {
			for (; told < grants.size() && grants.get(told).endedAt() < call.calledAt(); told++) {
				LockCall before = grants.get(told);
				highest = (highest == null || highest.token() < before.token()) ? before : highest;
			}
			if (highest != null && call.token() <= highest.token()) {
				violations.add("token " + call.token() + " of " + call + " is not higher than " + highest.token()
						+ " of the earlier " + highest);
			}
			LockCall same = tokens.putIfAbsent(call.token(), call);
			if (same != null) {
				violations.add("token " + call.token() + " is that of " + same + " and of " + call);
			}
		}
	}

}
