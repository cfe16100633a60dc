package io.distributedlock.chaos;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.distributedlock.LockMode;
import io.distributedlock.chaos.ChaosReport.Spread;
import io.distributedlock.chaos.ChaosReport.Writes;
import io.distributedlock.chaos.TimelyTakeovers.Takeover;

/** Counts and measures what a history tells. */
final class ChaosFigures {

	/** Among so many grants before a call are those that it may have waited for. */
	private static final int NEAR = 10;

	private final History history;

	ChaosFigures(History history) {
		this.history = history;
	}

	/** Grants whose call was sent while other processes kept it from the lock. */
	Map<LockMode, Long> contended() {
		Map<LockMode, Long> contended = new EnumMap<>(LockMode.class);
		rivals().forEach((call, rivals) -> {
			boolean waits = rivals.stream().anyMatch(call::excludes) || rivals.size() >= Math.max(call.permits(), 1);
			contended.merge(LockMode.ofPermits(call.permits()), waits ? 1L : 0L, Long::sum);
		});
		return contended;
	}

	/** Exclusive grants whose call was sent while other processes had shares. */
	long afterShares() {
		return rivals().entrySet()
			.stream()
			.filter((call) -> call.getKey().permits() == 0)
			.filter((call) -> call.getValue().stream().anyMatch((rival) -> rival.permits() > 0))
			.count();
	}

	/** The holds of other processes by the grants whose calls were sent meanwhile. */
	private Map<LockCall, List<LockCall>> rivals() {
		Map<LockCall, List<LockCall>> rivals = new LinkedHashMap<>();
		for (String key : this.history.calls().keySet()) {
			List<LockCall> grants = this.history.grants(key);
			for (int i = 0; i < grants.size(); i++) {
				LockCall call = grants.get(i);
				rivals.put(call, grants.subList(Math.max(i - NEAR, 0), i)
					.stream()
					.filter((rival) -> rival.releasedAt() > call.calledAt() && !rival.process().equals(call.process()))
					.toList());
			}
		}
		return rivals;
	}

	/** How long a holder worked on after the next one had the lock. */
	Spread overlap() {
		List<Long> overlaps = new ArrayList<>();
		for (String key : this.history.calls().keySet()) {
			List<LockCall> working = new ArrayList<>();
			for (LockCall call : this.history.grants(key)) {
				working.removeIf((other) -> other.releaseAt() == LockCall.NEVER || other.releaseAt() <= call.endedAt());
				working.stream()
					.filter(call::excludes)
					.forEach((other) -> overlaps.add(other.releaseAt() - call.endedAt()));
				working.add(call);
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
