package io.distributedlock.redis.quorum;

import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/**
 * What the nodes of a quorum know of each other before one of them takes part.
 * <p>
 * <b>Invariants.</b> No two nodes lead to the same process of a server: it would vote
 * twice, and be a majority of three by itself. A process that one node refuses for its
 * longest lease takes part on no other node either: the delay after a restart would be
 * too short for leases of the others.
 */
final class RestartedNodeRule {

	/** The node that leads to each server, by run id; guarded by the monitor. */
	private final Map<String, Admitted> admitted = new HashMap<>();

	/** The nodes that refuse this process for its settings; guarded by the monitor. */
	private final Map<QuorumNode, LockConfigurationException> refusals = new HashMap<>();

	/**
	 * Admits a connection of a node to a server.
	 * @throws LockConfigurationException if the connection of another node leads to it
	 */
	synchronized void admit(QuorumNode node, NodeConnection connection) {
		Admitted present = this.admitted.get(connection.runId());
		if (present != null && present.node() != node) {
			if (present.connection().isUsable()) {
				throw new LockConfigurationException(LockError.INVALID_PROPERTY,
						QuorumNodeCheck.subject(node.name()) + " leads to the same server as " + present.node().name()
								+ ", which would vote twice",
						"Name each server once in distributed-lock.redis.quorum.nodes, and look at aliases, forwarded"
								+ " ports and proxies");
			}
			// A server that was silent must not be reached by both once it replies.
			present.connection().close();
		}
		this.admitted.values().removeIf((one) -> one.node() == node);
		this.admitted.put(connection.runId(), new Admitted(node, connection));
	}

	/** Records that a node refuses this process for its longest lease. */
	synchronized void recordRefusal(QuorumNode node, LockConfigurationException refusal) {
		this.refusals.put(node, refusal);
	}

	/** Records that a node does not refuse this process. */
	synchronized void clearRefusal(QuorumNode node) {
		this.refusals.remove(node);
	}

	/**
	 * Returns another node because of which this process takes no part on a node that
	 * does not refuse it itself, or {@code null}. A node that does is asked again: it may
	 * have changed.
	 */
	synchronized @Nullable Refusal refusalByOthers(QuorumNode node) {
		if (this.refusals.isEmpty() || this.refusals.containsKey(node)) {
			return null;
		}
		Map.Entry<QuorumNode, LockConfigurationException> first = this.refusals.entrySet().iterator().next();
		return new Refusal(first.getKey().name(), first.getValue());
	}

	/**
	 * Refusal of this process by a node.
	 *
	 * @param node the name of that node
	 * @param reason why it refuses the process
	 */
	record Refusal(String node, LockConfigurationException reason) {
	}

	private record Admitted(QuorumNode node, NodeConnection connection) {
	}

}
