package io.distributedlock.redis.script;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.Deadline;

/**
 * The replicas that have to acknowledge a grant or a renewal before it counts.
 *
 * @param count the number of replicas, 0 for none
 * @param timeout the longest wait for their acknowledgements
 */
public record ReplicaRequirement(int count, Duration timeout) {

	/** Whether any replica is required. */
	public boolean isPresent() {
		return this.count > 0;
	}

	/**
	 * Returns the outcome of a script that WAIT followed.
	 * @param values the values that the script returned
	 * @param acknowledged the reply of WAIT: a number, or the failure of WAIT;
	 * {@code null} if none was sent
	 * @return the reply; a failure whose effect is unknown if WAIT failed after a grant
	 * or a renewal
	 */
	public ScriptOutcome outcome(ScriptCall call, List<?> values, @Nullable Object acknowledged) {
		if (acknowledged == null || !call.hasGrantedOrRenewed(values)) {
			return ScriptOutcome.of(new ScriptReply(values, true));
		}
		return (acknowledged instanceof RuntimeException failure)
				// The script itself has been run.
				? ScriptOutcome.of(RedisErrors.translate(failure, true))
				: ScriptOutcome.of(new ScriptReply(values, isMetBy(acknowledged)));
	}

	/** Whether a reply of WAIT says that enough replicas have acknowledged. */
	public boolean isMetBy(@Nullable Object acknowledged) {
		return acknowledged instanceof Long replicas && replicas >= this.count;
	}

	/** The time-out of WAIT in milliseconds, at least 1, since 0 would mean no end. */
	public long timeoutMillis(Deadline deadline) {
		long remainingMillis = TimeUnit.NANOSECONDS.toMillis(deadline.remainingNanos());
		return Math.max(Math.min(this.timeout.toMillis(), remainingMillis), 1);
	}

}
