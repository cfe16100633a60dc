package io.distributedlock.redis.quorum;

import java.time.Duration;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.script.RedisErrors;

/**
 * State of a node of a quorum as this process sees it. The log says once that the node
 * takes no part, and once that it does again. Safe for use by many threads.
 */
final class QuorumNodeState {

	private static final Log logger = LogFactory.getLog(QuorumNodeState.class);

	private final String node;

	private volatile String text = "not connected yet";

	/** The end of the delay after a restart, unless something else is the matter. */
	private volatile @Nullable Deadline restartDelay;

	/** Whether the log says that the node takes no part. */
	private volatile boolean told;

	/**
	 * Creates the state of a node without a connection.
	 * @param node the address, for people
	 */
	QuorumNodeState(String node) {
		this.node = node;
	}

	/** The state for people. */
	String text() {
		Deadline delay = this.restartDelay;
		if (delay == null) {
			return this.text;
		}
		long seconds = seconds(delay);
		return "restarted; takes part again " + ((seconds > 0) ? "in " + seconds + " s" : "with the next request");
	}

	/** The failure of a command to a node that has restarted, else {@code null}. */
	@Nullable LockProviderException restartFailure() {
		Deadline delay = this.restartDelay;
		return (delay != null) ? restarted(delay) : null;
	}

	private static LockProviderException restarted(Deadline delay) {
		return LockProviderException.nothingSent(LockError.STORE_FAILED, RedisErrors.PROVIDER,
				"has restarted, and takes part in nothing for " + seconds(delay) + " s more ("
						+ RedisQuorumSettings.MAX_LEASE + ")",
				null);
	}

	/** The seconds that are left, of which one that has begun is a whole one. */
	private static long seconds(Deadline delay) {
		return Math.max(delay.remaining().plusMillis(999).toSeconds(), 0);
	}

	void recordUp() {
		if (this.told) {
			this.told = false;
			logger.info("The node " + this.node + " of the Redis quorum takes part in locks again");
		}
		set("up");
	}

	/**
	 * Records that the node takes part in nothing after its start.
	 * @param rest how long it does from now on
	 * @return the failure of a command to it
	 */
	LockProviderException recordRestarted(Duration rest) {
		Deadline delay = Deadline.after(rest);
		this.restartDelay = delay;
		tell(text());
		return restarted(delay);
	}

	/** Records why the node takes no part. */
	void recordDown(String reason) {
		set(reason);
		tell(reason);
	}

	void recordClosed() {
		set("closed");
	}

	private void tell(String reason) {
		if (!this.told) {
			this.told = true;
			logger.warn("The node " + this.node + " of the Redis quorum takes no part in locks: " + reason);
		}
	}

	private void set(String state) {
		this.text = state;
		this.restartDelay = null;
	}

}
