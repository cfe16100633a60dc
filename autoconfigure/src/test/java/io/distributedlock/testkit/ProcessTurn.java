package io.distributedlock.testkit;

import java.time.Duration;

/**
 * The holds of one grant, which its process hands off from thread to thread.
 *
 * @param process the process
 * @param beganNanos when the first of them began
 * @param latestNanos when the latest of them began
 * @param endedNanos when the latest of them ended, at the earliest
 * @param holds their number
 */
record ProcessTurn(ContractProcess process, long beganNanos, long latestNanos, long endedNanos, int holds) {

	static ProcessTurn of(ContractProcess process, long beganNanos) {
		return new ProcessTurn(process, beganNanos, beganNanos, System.nanoTime(), 1);
	}

	ProcessTurn until(ProcessTurn later) {
		return new ProcessTurn(this.process, this.beganNanos, later.latestNanos, later.endedNanos, this.holds + 1);
	}

	/** Returns the time during which holds of this turn began. */
	Duration length() {
		return Duration.ofNanos(this.latestNanos - this.beganNanos);
	}

	/** Returns the time from a moment until this turn began. */
	Duration since(long nanos) {
		return Duration.ofNanos(this.beganNanos - nanos);
	}

}
