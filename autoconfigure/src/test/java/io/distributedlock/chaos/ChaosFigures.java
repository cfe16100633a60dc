package io.distributedlock.chaos;

import java.util.ArrayList;
import java.util.List;

import io.distributedlock.chaos.ChaosReport.Spread;
import io.distributedlock.chaos.ChaosReport.Writes;
import io.distributedlock.chaos.TimelyTakeovers.Takeover;

/** Counts and measures what a history tells. */
final class ChaosFigures {

	private final History history;

	ChaosFigures(History history) {
		this.history = history;
	}

	long acquisitions() {
		return this.history.calls(LockCall::isGranted).size();
	}

	/** Grants whose call was sent while another process had the lock. */
	long contended() {
		long contended = 0;
		for (String key : this.history.calls().keySet()) {
			List<LockCall> grants = this.history.grants(key);
			for (int i = 1; i < grants.size(); i++) {
				LockCall before = grants.get(i - 1);
				contended += (before.releasedAt() > grants.get(i).calledAt()
						&& !before.process().equals(grants.get(i).process())) ? 1 : 0;
			}
		}
		return contended;
	}

	/** How long a holder worked on after the next one had the lock. */
	Spread overlap() {
		List<Long> overlaps = new ArrayList<>();
		for (String key : this.history.calls().keySet()) {
			LockCall last = null;
			for (LockCall call : this.history.grants(key)) {
				if (last != null && last.releaseAt() > call.endedAt()) {
					overlaps.add(last.releaseAt() - call.endedAt());
				}
				if (call.releaseAt() != LockCall.NEVER && (last == null || last.releaseAt() < call.releaseAt())) {
					last = call;
				}
			}
		}
		return Spread.of(overlaps);
	}

	Spread takeover(Bounds bounds) {
		return Spread.of(new TimelyTakeovers(bounds).takeovers(this.history).stream().map(Takeover::nanos).toList());
	}

	/** By how much calls took longer than they should, before any allowance. */
	Spread overrun() {
		return Spread.of(this.history.calls((call) -> call.endedAt() != LockCall.NEVER)
			.stream()
			.map((call) -> this.history.running(call.process(), call.calledAt(), call.endedAt()) - call.limit())
			.filter((over) -> over > 0)
			.toList());
	}

	long losses() {
		return this.history.calls(LockCall::isLost).size();
	}

	Writes writes(long staleWithoutFence) {
		long all = this.history.writes().values().stream().mapToLong(List::size).sum();
		long refused = this.history.writes()
			.values()
			.stream()
			.flatMap(List::stream)
			.filter((write) -> write.detail().equals(HistoryEvent.REFUSED))
			.count();
		return new Writes(all - refused, refused, FencedWrites.admitted(this.history), staleWithoutFence);
	}

}
