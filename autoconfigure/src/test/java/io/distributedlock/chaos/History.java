package io.distributedlock.chaos;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Predicate;

/** The events of a run, put together. */
final class History {

	private final Map<String, List<LockCall>> calls = new LinkedHashMap<>();

	private final Map<String, List<HistoryEvent>> writes = new LinkedHashMap<>();

	private final List<Fault> faults = new ArrayList<>();

	private final Map<String, List<Span>> stalls = new HashMap<>();

	private final Map<String, HistoryEvent> deaths = new HashMap<>();

	private final Map<String, LockCall> callOfKey = new HashMap<>();

	private final OptionalLong residue;

	/**
	 * Puts events of all processes together.
	 * @param events the events, of which those of one call are in their order
	 */
	History(List<HistoryEvent> events) {
		Map<String, HistoryEvent> begun = new LinkedHashMap<>();
		long left = -1;
		for (HistoryEvent event : events.stream().sorted(Comparator.comparingLong(HistoryEvent::at)).toList()) {
			switch (event.kind()) {
				case CALL -> begin(event);
				case WRITE -> this.writes.computeIfAbsent(event.key(), (key) -> new ArrayList<>()).add(event);
				case FAULT -> begun.put(event.call(), event);
				case LIFTED -> this.faults.add(fault(begun.remove(event.call()), event));
				case DEATH -> this.deaths.put(event.process(), event);
				case STALL -> this.stalls.computeIfAbsent(event.process(), (process) -> new ArrayList<>())
					.add(new Span(event.at() - event.value(), event.at()));
				case RESIDUE -> left = event.value();
				default -> this.callOfKey.get(event.call() + event.key()).add(event);
			}
		}
		if (!begun.isEmpty()) {
			throw new IllegalArgumentException("Not lifted: " + begun.values());
		}
		this.residue = (left >= 0) ? OptionalLong.of(left) : OptionalLong.empty();
	}

	private void begin(HistoryEvent event) {
		LockCall call = new LockCall(event);
		this.callOfKey.put(event.call() + event.key(), call);
		this.calls.computeIfAbsent(event.key(), (key) -> new ArrayList<>()).add(call);
	}

	private static Fault fault(HistoryEvent begin, HistoryEvent end) {
		return new Fault(FaultKind.valueOf(begin.detail()), begin.process(), begin.at(), end.at(), end.value());
	}

	/** The calls by their keys, in the order in which they were sent. */
	Map<String, List<LockCall>> calls() {
		return this.calls;
	}

	List<LockCall> calls(Predicate<LockCall> wanted) {
		return this.calls.values().stream().flatMap(List::stream).filter(wanted).toList();
	}

	/** The granted calls of a key, in the order in which they were told so. */
	List<LockCall> grants(String key) {
		return this.calls.getOrDefault(key, List.of())
			.stream()
			.filter(LockCall::isGranted)
			.sorted(Comparator.comparingLong(LockCall::endedAt))
			.toList();
	}

	LockCall callOf(HistoryEvent write) {
		return this.callOfKey.get(write.call() + write.key());
	}

	/** What the register was asked for, by keys, in its order. */
	Map<String, List<HistoryEvent>> writes() {
		return this.writes;
	}

	List<Fault> faults() {
		return this.faults;
	}

	/** When a process got no processor, of itself. */
	List<Span> stalls(String process) {
		return this.stalls.getOrDefault(process, List.of());
	}

	/** For how long processes got no processor, all together. */
	long stalled() {
		return this.stalls.values().stream().flatMap(List::stream).mapToLong(Span::length).sum();
	}

	/** Returns the length of a time without that in which a process stood still. */
	long running(String process, long from, long to) {
		List<Span> still = new ArrayList<>(stalls(process));
		this.faults.stream()
			.filter((fault) -> fault.kind().isStop() && fault.isOf(process))
			.map((fault) -> new Span(fault.begin(), fault.end()))
			.forEach(still::add);
		return new Span(from, to).without(still).stream().mapToLong(Span::length).sum();
	}

	/** When a process has ended, which may be never. */
	long deathOf(String process) {
		HistoryEvent death = this.deaths.get(process);
		return (death != null) ? death.at() : LockCall.NEVER;
	}

	/** Whether a process was killed. */
	boolean isKilled(String process) {
		HistoryEvent death = this.deaths.get(process);
		return death != null && death.detail().equals(FaultKind.KILL.name());
	}

	/** What the store has kept, if that was looked for. */
	OptionalLong residue() {
		return this.residue;
	}

}
