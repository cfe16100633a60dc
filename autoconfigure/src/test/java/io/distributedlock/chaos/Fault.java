package io.distributedlock.chaos;

/**
 * A fault as the history tells it.
 *
 * @param kind the kind
 * @param target the process that it concerns, or a client with all its processes, or
 * {@link HistoryEvent#STORE}
 * @param begin when it began at the earliest
 * @param end when it was over at the latest
 * @param effects how often it took effect
 */
record Fault(FaultKind kind, String target, long begin, long end, long effects) {

	/** Whether it may concern a process. */
	boolean concerns(String process) {
		return isOf(process) || this.target.equals(HistoryEvent.STORE);
	}

	/** Whether it concerns a process, and not all of them. */
	boolean isOf(String process) {
		return this.target.equals(process) || process.startsWith(this.target + ".");
	}

	/** Whether it was active in some part of a time. */
	boolean touches(long from, long to) {
		return this.begin <= to && this.end >= from;
	}

}
