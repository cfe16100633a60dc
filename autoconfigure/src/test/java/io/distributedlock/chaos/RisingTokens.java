package io.distributedlock.chaos;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * The token of a grant is higher than those of all grants that were told before the call
 * was sent, and no two grants have the same. A shared hold may join the grant that its
 * process has, and has its token, which is higher than those of exclusive grants alone.
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
		LockCall highestExclusive = null;
		int told = 0;
		for (LockCall call : grants.stream().sorted(Comparator.comparingLong(LockCall::calledAt)).toList()) {
			for (; told < grants.size() && grants.get(told).endedAt() < call.calledAt(); told++) {
				LockCall before = grants.get(told);
				highest = higher(highest, before);
				highestExclusive = (before.permits() == 0) ? higher(highestExclusive, before) : highestExclusive;
			}
			LockCall lower = call.mayJoin() ? highestExclusive : highest;
			if (lower != null && call.token() <= lower.token()) {
				violations.add("token " + call.token() + " of " + call + " is not higher than " + lower.token()
						+ " of the earlier " + lower);
			}
			LockCall same = tokens.putIfAbsent(call.token(), call);
			if (same != null && !(call.mayJoin() && same.mayJoin() && call.process().equals(same.process()))) {
				violations.add("token " + call.token() + " is that of " + same + " and of " + call);
			}
		}
	}

	private static LockCall higher(@Nullable LockCall highest, LockCall call) {
		return (highest == null || highest.token() < call.token()) ? call : highest;
	}

}
