package io.distributedlock.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.distributedlock.chaos.LockCall.End;

/**
 * No call waits while it could have the lock and the store is well. A lock counts as
 * taken while a call has it, or may have it: until its release has returned, or for the
 * expiry after its process has died, or after a call whose end is unclear. So the rule
 * also bounds the time from a kill to the next grant.
 * <p>
 * An exclusive call does not wait for shares that were asked for when it waited for long
 * enough to be in the wait queue. A share waits for as many others as it permits, and may
 * wait for calls of another kind that wait themselves.
 */
final class ServedWaiters implements HistoryRule {

	private final Bounds bounds;

	ServedWaiters(Bounds bounds) {
		this.bounds = bounds;
	}

	@Override
	public List<String> violations(History history) {
		List<String> violations = new ArrayList<>();
		for (List<LockCall> calls : history.calls().values()) {
			Map<LockCall, Span> taken = new LinkedHashMap<>();
			calls.forEach((call) -> taken.put(call, taken(history, call)));
			for (LockCall call : calls) {
				Span wait = new Span(call.calledAt(), Math.min(call.endedAt(), history.deathOf(call.process())));
				long waited = (wait.length() > this.bounds.longestIdle()) ? waited(history, call, wait, taken) : 0;
				if (waited > this.bounds.longestIdle()) {
					violations.add(call + " waited for " + Duration.ofNanos(waited).toMillis()
							+ " ms while the lock was free");
				}
			}
		}
		return violations;
	}

	/** The longest time for which a process that is well waited and need not have. */
	private long waited(History history, LockCall waiter, Span wait, Map<LockCall, Span> taken) {
		List<Span> alike = new ArrayList<>();
		List<Span> busy = unwell(history, waiter.process());
		taken.forEach((call, span) -> {
			if (span.to() < wait.from() || Math.min(call.calledAt(), span.from()) > wait.to()) {
				return;
			}
			boolean isAlike = call.permits() == waiter.permits();
			if (isAlike && call.isGranted()) {
				alike.add(span);
			}
			else if (isAlike || waiter.permits() > 0) {
				busy.add(isAlike ? span : new Span(Math.min(call.calledAt(), span.from()), span.to()));
			}
		});
		busy.addAll(Span.common(alike, Math.max(waiter.permits(), 1)));
		return wait.without(busy)
			.stream()
			.flatMap((gap) -> gap.without(sharesBefore(waiter, gap, taken)).stream())
			.mapToLong((free) -> history.running(waiter.process(), free.from(), free.to()))
			.max()
			.orElse(0);
	}

	/** The shares for which an exclusive call may have to wait in a time. */
	private List<Span> sharesBefore(LockCall waiter, Span gap, Map<LockCall, Span> taken) {
		return taken.entrySet()
			.stream()
			.filter((other) -> waiter.permits() == 0 && other.getKey().permits() > 0)
			.filter((share) -> !this.bounds.queued()
					|| share.getKey().calledAt() <= gap.from() + this.bounds.longestIdle())
			.map(Map.Entry::getValue)
			.toList();
	}

	/** The times at which a process or the store is not well. */
	private List<Span> unwell(History history, String process) {
		List<Span> unwell = new ArrayList<>();
		history.faults()
			.stream()
			.filter((fault) -> fault.concerns(process))
			.forEach((fault) -> unwell.add(new Span(fault.begin(), later(fault.end()))));
		history.stalls(HistoryEvent.STORE).forEach((stall) -> unwell.add(new Span(stall.from(), later(stall.to()))));
		return unwell;
	}

	/** The time in which a call has the lock, or may have it. */
	private Span taken(History history, LockCall call) {
		long end = Math.min(call.endedAt(), history.deathOf(call.process()));
		long unwellSince = unwellSince(history, call, end);
		// A call for several keys may have one of them while it waits for the other.
		boolean several = call.mode().equals(CallMode.SEVERAL.name());
		long from = several ? call.calledAt() : Math.min(end, unwellSince);
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

	private long later(long time) {
		return (time != LockCall.NEVER) ? time + this.bounds.aftermath() : time;
	}

}
