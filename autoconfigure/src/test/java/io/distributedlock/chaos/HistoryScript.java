package io.distributedlock.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.distributedlock.chaos.HistoryEvent.Kind;
import io.distributedlock.chaos.LockCall.End;

/**
 * A history that is made by hand: all times are milliseconds, all calls are for one key.
 */
final class HistoryScript {

	private static final String KEY = "key";

	private final List<HistoryEvent> events = new ArrayList<>();

	private int faults;

	/** A call that may wait for a second. */
	HistoryScript call(String call, long at) {
		return call(call, at, 0);
	}

	/** A call for a share, or for the one lock that excludes all others. */
	HistoryScript call(String call, long at, int permits) {
		return add(at, Kind.CALL, call, Duration.ofSeconds(1).toNanos(), CallMode.EXECUTE + " " + permits);
	}

	/** A whole call for a share. */
	HistoryScript share(String call, int permits, long from, long to, long token) {
		return call(call, from, permits).granted(call, from + 1, token).released(call, to);
	}

	HistoryScript granted(String call, long at, long token) {
		return add(at, Kind.GRANTED, call, token, "");
	}

	HistoryScript ended(String call, long at, End end) {
		return add(at, Kind.ENDED, call, 0, end.name());
	}

	HistoryScript held(String call, long at) {
		return add(at, Kind.HELD, call, 0, "");
	}

	HistoryScript lost(String call, long at) {
		return add(at, Kind.LOST, call, 0, "EXPIRED");
	}

	/** A holder that held the lock until then. */
	HistoryScript released(String call, long at) {
		return released(call, at, at + 1);
	}

	HistoryScript released(String call, long from, long to) {
		return add(from, Kind.RELEASE, call, 1, "").add(to, Kind.RELEASED, call, 0, "");
	}

	/** A holder that found the lock gone. */
	HistoryScript releasedLate(String call, long at) {
		return add(at, Kind.RELEASE, call, 0, "").add(at + 1, Kind.RELEASED, call, 0, "");
	}

	/** A call that has the lock a millisecond later. */
	HistoryScript grant(String call, long at, long token) {
		return call(call, at).granted(call, at + 1, token);
	}

	/** A whole call: sent, granted a millisecond later, and held for ten. */
	HistoryScript hold(String call, long at, long token) {
		return grant(call, at, token).held(call, at + 10).released(call, at + 11);
	}

	HistoryScript accepted(String call, long at, long token) {
		return add(at, Kind.WRITE, call, token, HistoryEvent.ACCEPTED);
	}

	HistoryScript refused(String call, long at, long token) {
		return add(at, Kind.WRITE, call, token, HistoryEvent.REFUSED);
	}

	HistoryScript fault(FaultKind kind, String target, long from, long to) {
		String id = "fault-" + ++this.faults;
		this.events.add(new HistoryEvent(nanos(from), Kind.FAULT, target, id, "", 0, kind.name()));
		this.events.add(new HistoryEvent(nanos(to), Kind.LIFTED, target, id, "", 1, ""));
		return this;
	}

	/** The process of a call got no processor. */
	HistoryScript stall(String process, long from, long to) {
		return add(to, Kind.STALL, process, nanos(to - from), "");
	}

	HistoryScript kill(String process, long at) {
		fault(FaultKind.KILL, process, at, at + 1);
		this.events.add(new HistoryEvent(nanos(at), Kind.DEATH, process, "", "", 137, FaultKind.KILL.name()));
		return this;
	}

	HistoryScript residue(long at, long entries) {
		this.events.add(new HistoryEvent(nanos(at), Kind.RESIDUE, HistoryEvent.STORE, "", "", entries, ""));
		return this;
	}

	/** The process is what the name of a call has before its number. */
	private HistoryScript add(long at, Kind kind, String call, long value, String detail) {
		this.events.add(new HistoryEvent(nanos(at), kind, call.split("#")[0], call, KEY, value, detail));
		return this;
	}

	private static long nanos(long millis) {
		return Duration.ofMillis(millis).toNanos();
	}

	/** Checks a rule, and returns what it has found. */
	List<String> violationsOf(HistoryRule rule) {
		List<HistoryEvent> read = this.events.stream().map(HistoryEvent::toJson).map(HistoryEvent::parse).toList();
		return rule.violations(new History(read));
	}

}
