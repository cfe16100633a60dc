package io.distributedlock.redis;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * How many replicas have to have a grant or a renewal before it counts.
 *
 * @param atLeast the number, 0 for none
 * @param timeout how long to wait for them
 */
record ReplicaRequirement(int atLeast, Duration timeout) {

	boolean areAsked() {
		return this.atLeast > 0;
	}

	/** The argument of WAIT, to which 0 would mean: for ever. */
	long millis(long deadline) {
		long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
		return Math.max(Math.min(this.timeout.toMillis(), left), 1);
	}

}
