package io.distributedlock.redis.quorum;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProviderException;

/**
 * State of a node of a quorum as this process sees it. The log says once that the node
 * takes no part, and once that it does again. Safe for use by many threads.
 */
final class QuorumNodeState {

	private static final Log logger = LogFactory.getLog(QuorumNodeState.class);

	private final String node;

	private volatile String text = "not connected yet";

	/** What is left of the time after a restart, unless something else is the matter. */
	private volatile @Nullable RestartDelay restartDelay;

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
		RestartDelay delay = this.restartDelay;
		return (delay != null) ? delay.state() : this.text;
	}

	/** The failure of a command to a node that has restarted, else {@code null}. */
	@Nullable LockProviderException restartFailure() {
		RestartDelay delay = this.restartDelay;
		return (delay != null) ? delay.failure() : null;
	}

	void recordUp() {
		if (this.told) {
			this.told = false;
			logger.info("The node " + this.node + " of the Redis quorum takes part in locks again");
		}
		set("up");
	}

	void recordRestarted(RestartDelay delay) {
		recordDown(delay.state());
		this.restartDelay = delay;
	}

	/** Records why the node takes no part. */
	void recordDown(String reason) {
		set(reason);
		if (!this.told) {
			this.told = true;
			logger.warn("The node " + this.node + " of the Redis quorum takes no part in locks: " + reason);
		}
	}

	void recordClosed() {
		set("closed");
	}

	private void set(String state) {
		this.text = state;
		this.restartDelay = null;
	}

}
