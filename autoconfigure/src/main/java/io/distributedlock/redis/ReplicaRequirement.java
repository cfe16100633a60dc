package io.distributedlock.redis;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.distributedlock.provider.Deadline;

/**
 * The replicas that have to acknowledge a grant or a renewal before it counts.
 *
 * @param count the number of replicas, 0 for none
 * @param timeout the longest wait for their acknowledgements
 */
record ReplicaRequirement(int count, Duration timeout) {

	/** Whether any replica is required. */
	boolean isPresent() {
		return this.count > 0;
	}

	/** The time-out of WAIT in milliseconds, at least 1, since 0 would mean no end. */
	long timeoutMillis(Deadline deadline) {
		long remainingMillis = TimeUnit.NANOSECONDS.toMillis(deadline.remainingNanos());
		return Math.max(Math.min(this.timeout.toMillis(), remainingMillis), 1);
	}

}
