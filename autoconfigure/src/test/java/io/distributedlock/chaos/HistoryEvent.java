package io.distributedlock.chaos;

import tools.jackson.databind.json.JsonMapper;

/**
 * One event of a run, which is one line of JSON in the history of the process that it
 * happened in. A call is logged before it is sent, so that what a killed process has
 * begun is known.
 *
 * @param at when, by {@link System#nanoTime()}, which is CLOCK_MONOTONIC on Linux: all
 * JVMs of a machine share it
 * @param kind the kind
 * @param process the process, or {@link #STORE}
 * @param call the id of the call, of the fault, or an empty text
 * @param key the key, or an empty text
 * @param value the kind tells what it is
 * @param detail the kind tells what it is
 */
record HistoryEvent(long at, Kind kind, String process, String call, String key, long value, String detail) {

	/** The target of a fault that concerns all processes. */
	static final String STORE = "store";

	static final String ACCEPTED = "accepted";

	static final String REFUSED = "refused";

	private static final JsonMapper JSON = JsonMapper.builder().build();

	static HistoryEvent parse(String line) {
		HistoryEvent event = JSON.readValue(line, HistoryEvent.class);
		// Few different texts, of which a history has many.
		return new HistoryEvent(event.at, event.kind, event.process.intern(), event.call, event.key.intern(),
				event.value, event.detail.intern());
	}

	String toJson() {
		return JSON.writeValueAsString(this);
	}

	/** The kinds of events. */
	enum Kind {

		/** A call is sent: the nanoseconds within which it has to end; mode, permits. */
		CALL,
		/** It has the lock: the fencing token. */
		GRANTED,
		/** It has ended without the lock: {@link LockCall.End}. */
		ENDED,
		/** The lock was held at that time. */
		HELD,
		/** The holder was told a loss: the reason. */
		LOST,
		/** The holder begins its release: 1 if it held the lock until then, or 0. */
		RELEASE,
		/** The release has returned. */
		RELEASED,
		/** The register was written to: the token; whether it has accepted it. */
		WRITE,
		/** A fault begins: {@link FaultKind}. */
		FAULT,
		/** A fault has ended: the number of its effects; the evidence. */
		LIFTED,
		/** A process got no processor until then: for how many nanoseconds. */
		STALL,
		/** A process has ended: how. */
		DEATH,
		/** The number of entries that the store still has after all have ended. */
		RESIDUE

	}

}
