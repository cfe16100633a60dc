package io.distributedlock.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * After the kill of a holder a call that waits already has the lock when the lease is
 * over, unless a fault of its own or of the store keeps it from it.
 */
final class TimelyTakeovers implements HistoryRule {

	private final Bounds bounds;

	TimelyTakeovers(Bounds bounds) {
		this.bounds = bounds;
	}

	@Override
	public List<String> violations(History history) {
		long limit = this.bounds.within(this.bounds.expiry().toNanos());
		return takeovers(history).stream()
			.filter((takeover) -> takeover.nanos() > limit)
			.map((takeover) -> takeover.heir() + " had the lock of the killed " + takeover.killed() + " after "
					+ Duration.ofNanos(takeover.nanos()).toMillis() + " ms, " + Duration.ofNanos(limit).toMillis()
					+ " are the limit")
			.toList();
	}

	/**
	 * Returns how the exclusive locks of killed processes were followed where all else
	 * was well.
	 */
	List<Takeover> takeovers(History history) {
		List<Takeover> takeovers = new ArrayList<>();
		for (String key : history.calls().keySet()) {
			List<LockCall> grants = history.grants(key);
			for (int i = 0; i + 1 < grants.size(); i++) {
				LockCall killed = grants.get(i);
				if (history.isKilled(killed.process()) && killed.releaseAt() == LockCall.NEVER
						&& killed.permits() == 0) {
					takeover(history, killed, grants.get(i + 1)).ifPresent(takeovers::add);
				}
			}
		}
		return takeovers;
	}

	private Optional<Takeover> takeover(History history, LockCall killed, LockCall heir) {
		long death = history.deathOf(killed.process());
		boolean well = history.faults()
			.stream()
			.noneMatch((fault) -> fault.concerns(heir.process())
					&& fault.touches(death - this.bounds.callTimeout().toNanos(), heir.endedAt()));
		boolean answered = history.stalls(HistoryEvent.STORE)
			.stream()
			.noneMatch((stall) -> stall.touches(death, heir.endedAt()));
		return (well && answered && heir.calledAt() < death && heir.endedAt() > death)
				? Optional.of(new Takeover(killed, heir, history.running(heir.process(), death, heir.endedAt())))
				: Optional.empty();
	}

	/**
	 * A lock that has passed from a killed process to the next one.
	 *
	 * @param killed the last hold
	 * @param heir the next one
	 * @param nanos the time from the kill to the next hold
	 */
	record Takeover(LockCall killed, LockCall heir, long nanos) {
	}

}
