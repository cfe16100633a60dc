package io.distributedlock.testkit;

import java.time.Duration;

/**
 * The holds of one grant, which its process hands off from thread to thread.
 *
 * @param beganNanos when the first of them began
 * @param latestNanos when the latest of them began
 * @param holds their number
 */
record ProcessTurn(long beganNanos, long latestNanos, int holds) {

	ProcessTurn until(ProcessTurn later) {
		return new ProcessTurn(this.beganNanos, later.latestNanos, this.holds + 1);
	}

	Duration length() {
		return Duration.ofNanos(this.latestNanos - this.beganNanos);
	}

}
