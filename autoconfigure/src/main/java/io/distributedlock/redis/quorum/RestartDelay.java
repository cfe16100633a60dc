package io.distributedlock.redis.quorum;

import java.time.Duration;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.script.RedisErrors;

/**
 * The time for which a node of a quorum takes part in nothing after its start, as people
 * are told of it: what is left of it when they ask.
 */
final class RestartDelay {

	private final Deadline end;

	/**
	 * Creates the delay of a node.
	 * @param rest how long it lasts from now on
	 */
	RestartDelay(Duration rest) {
		this.end = Deadline.after(rest);
	}

	/** The seconds that are left, of which one that has begun is a whole one. */
	long seconds() {
		return Math.max(this.end.remaining().plusMillis(999).toSeconds(), 0);
	}

	/** The state of the node. */
	String state() {
		long seconds = seconds();
		return "restarted; takes part again " + ((seconds > 0) ? "in " + seconds + " s" : "with the next request");
	}

	/** The failure of a command to the node. */
	LockProviderException failure() {
		return LockProviderException.nothingSent(LockError.STORE_FAILED, RedisErrors.PROVIDER,
				"has restarted, and takes part in nothing for " + seconds() + " s more ("
						+ RedisQuorumSettings.MAX_LEASE + ")",
				null);
	}

}
