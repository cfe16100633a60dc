package io.distributedlock.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.distributedlock.chaos.LockCall.End;

/**
 * No call waits while the lock is free and the store is well. A lock counts as not free
 * while a call has it, or may have it: until its release has returned, or for the expiry
 * after its process has died, or after a call whose end is unclear. So the rule also
 * bounds the time from a kill to the next grant.
 */
final class ServedWaiters implements HistoryRule {

	private final Bounds bounds;

	ServedWaiters(Bounds bounds) {
		this.bounds = bounds;
	}

	@Override
	public List<String> violations(History history) {
		List<String> violations = new ArrayList<>();
		for (Map.Entry<String, List<LockCall>> entry : history.calls().entrySet()) {
			for (Span free : freeSpans(history, entry.getValue())) {
				for (LockCall call : entry.getValue()) {
					long waited = waited(history, call, free);
					if (waited > this.bounds.longestIdle()) {
						violations.add(call + " waited for " + Duration.ofNanos(waited).toMillis()
								+ " ms while the lock was free");
					}
				}
			}
		}
		return violations;
	}

	/** The longest time for which a process that is well waited in a span. */
	private long waited(History history, LockCall call, Span free) {
		long from = Math.max(call.calledAt(), free.from());
		long to = Math.min(Math.min(call.endedAt(), history.deathOf(call.process())), free.to());
		if (to - from <= this.bounds.longestIdle()) {
			return 0;
		}
		List<Span> unwell = new ArrayList<>();
		for (Fault fault : history.faults()) {
			if (fault.isOf(call.process())) {
				unwell.add(new Span(fault.begin(), fault.end() + this.bounds.aftermath()));
			}
		}
		return new Span(from, to).without(unwell)
			.stream()
			.mapToLong((waiting) -> history.running(call.process(), waiting.from(), waiting.to()))
			.max()
			.orElse(0);
	}

	/** The times at which nobody has the lock for longer than a waiter may need. */
	private List<Span> freeSpans(History history, List<LockCall> calls) {
		List<Span> taken = new ArrayList<>();
		for (Fault fault : history.faults()) {
			if (fault.target().equals(HistoryEvent.STORE)) {
				taken.add(new Span(fault.begin(), fault.end() + this.bounds.aftermath()));
			}
		}
		history.stalls(HistoryEvent.STORE)
			.forEach((stall) -> taken.add(new Span(stall.from(), stall.to() + this.bounds.aftermath())));
		calls.stream().map((call) -> taken(history, call)).filter((span) -> span.length() > 0).forEach(taken::add);
		return new Span(calls.get(0).calledAt(), history.end()).without(taken)
			.stream()
			.filter((gap) -> gap.length() > this.bounds.longestIdle())
			.toList();
	}

	/** The time in which a call has the lock, or may have it. */
	private Span taken(History history, LockCall call) {
		long end = Math.min(call.endedAt(), history.deathOf(call.process()));
		long unwellSince = unwellSince(history, call, end);
		long from = multiKey(call) ? call.calledAt() : Math.min(end, unwellSince);
		if (call.isGranted()) {
			long released = Math.min(call.releasedAt(), history.deathOf(call.process()));
			boolean clear = released == call.releasedAt() && !call.isLost()
					&& unwellSince(history, call, released) == LockCall.NEVER;
			return new Span(from, clear ? released : later(released));
		}
		boolean clear = call.end() == End.BUSY && unwellSince == LockCall.NEVER;
		return new Span(from, clear ? end : later(end));
	}

	/** Since when the process or the store is not well, in the time of a call. */
	private static long unwellSince(History history, LockCall call, long end) {
		return history.faults()
			.stream()
			.filter((fault) -> fault.concerns(call.process()) && fault.touches(call.calledAt(), end))
			.mapToLong((fault) -> Math.max(fault.begin(), call.calledAt()))
			.min()
			.orElse(LockCall.NEVER);
	}

	/** A call for several keys may have one of them while it waits for the other. */
	private static boolean multiKey(LockCall call) {
		return call.mode().equals(CallMode.SEVERAL.name());
	}

	private long later(long time) {
		return (time != LockCall.NEVER) ? time + this.bounds.aftermath() : time;
	}

}
