package io.distributedlock.redis.script;

import java.util.concurrent.TimeUnit;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;

/**
 * The growing pauses before a script is run again that the server could not serve yet.
 */
public final class RepetitionPause {

	private static final long FIRST_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	private static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(80);

	private RepetitionPause() {
	}

	/**
	 * Returns the pause after a failed run. A batch whose keys are on two nodes is not
	 * repeated but sent in parts.
	 * @param lastNanos the pause before that run in nanoseconds, 0 for the first run
	 * @param ex the failure
	 * @param kind the purpose of the run
	 * @param deadline the end of all runs
	 * @return the pause in nanoseconds, or 0 if the failure is final
	 */
	public static long after(long lastNanos, RuntimeException ex, CallKind kind, Deadline deadline) {
		if (!RedisErrors.isTransient(ex) || (kind == CallKind.RENEWAL && RedisErrors.isSlotMigrating(ex))) {
			return 0;
		}
		long nanos = (lastNanos == 0) ? FIRST_NANOS : Math.min(2 * lastNanos, LONGEST_NANOS);
		return (deadline.remainingNanos() > 2 * nanos) ? nanos : 0;
	}

}
