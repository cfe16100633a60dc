package io.distributedlock.chaos;

import java.util.ArrayList;
import java.util.List;

/**
 * The fenced register admits no write of a holder after a write of one that has called
 * for the lock later than the first had it, and refuses none of a present holder. This
 * does not look at tokens, so that it finds wrong ones.
 */
final class FencedWrites implements HistoryRule {

	private static final String STALE = "a stale write of ";

	@Override
	public List<String> violations(History history) {
		List<String> violations = new ArrayList<>();
		history.writes().values().forEach((writes) -> check(history, writes, violations));
		return violations;
	}

	/** Counts the stale writes that were admitted. */
	static long admitted(History history) {
		return new FencedWrites().violations(history).stream().filter((text) -> text.startsWith(STALE)).count();
	}

	private static void check(History history, List<HistoryEvent> writes, List<String> violations) {
		LockCall latest = null;
		long highest = Long.MIN_VALUE;
		for (HistoryEvent write : writes) {
			LockCall writer = history.callOf(write);
			if (writer == null || !writer.isGranted()) {
				violations.add("a write of " + write.call() + ", which has no lock");
			}
			else if (write.detail().equals(HistoryEvent.ACCEPTED)) {
				if (latest != null && latest.calledAt() > writer.endedAt()) {
					violations.add(STALE + writer + " was admitted after one of " + latest);
				}
				latest = (latest == null || latest.calledAt() < writer.calledAt()) ? writer : latest;
				highest = Math.max(highest, write.value());
			}
			else if (highest <= write.value()) {
				violations.add("a write of " + writer + " was refused, although none had a higher token");
			}
			else if (writer.heldUntil() > write.at()) {
				violations.add("a write of " + writer + " was refused, although it held the lock after that");
			}
		}
	}

}
