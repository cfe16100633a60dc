package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

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

	private volatile Supplier<String> text = () -> "not connected yet";

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
		return this.text.get();
	}

	void recordUp() {
		if (this.told) {
			this.told = false;
			logger.info("The node " + this.node + " of the Redis quorum takes part in locks again");
		}
		this.text = () -> "up";
	}

	/**
	 * Records that the node takes part in nothing after its start.
	 * @param rest how long it does from now on
	 * @return the failure of a command to it, with what is left of that then
	 */
	Supplier<LockProviderException> recordRestarted(Duration rest) {
		Deadline end = Deadline.after(rest);
		recordDown(() -> "restarted; takes part again "
				+ ((seconds(end) > 0) ? "in " + seconds(end) + " s" : "with the next request"));
		return () -> LockProviderException.nothingSent(LockError.STORE_FAILED, RedisErrors.PROVIDER,
				"has restarted, and takes part in nothing for " + seconds(end) + " s more ("
						+ RedisQuorumSettings.MAX_LEASE + ")",
				null);
	}

	/** The seconds that are left, of which one that has begun is a whole one. */
	private static long seconds(Deadline end) {
		return Math.max(end.remaining().plusMillis(999).toSeconds(), 0);
	}

	/** Records why the node takes no part. */
	void recordDown(Supplier<String> reason) {
		this.text = reason;
		if (!this.told) {
			this.told = true;
			logger.warn("The node " + this.node + " of the Redis quorum takes no part in locks: " + reason.get());
		}
	}

	void recordClosed() {
		this.text = () -> "closed";
	}

}
