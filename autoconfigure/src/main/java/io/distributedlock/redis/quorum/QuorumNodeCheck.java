package io.distributedlock.redis.quorum;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.regex.Pattern;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.redis.check.ServerInfo;
import io.distributedlock.redis.script.ErrorReply;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.Script;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptReply;

/**
 * Check of a node of a quorum by the first command of each connection to it.
 * <p>
 * A server that has restarted may have forgotten locks and orders. It takes part in
 * nothing until the longest lease has passed since its start: what it granted or renewed
 * before has expired by then. The run id shows that a process is another one, but not
 * since when; the uptime does.
 */
final class QuorumNodeCheck {

	private static final Pattern ROLE = Pattern.compile("role:(\\w+)");

	private static final Pattern REPLICAS = Pattern.compile("connected_slaves:(\\d+)");

	private static final Set<String> OF_CLUSTER = Set.of("MOVED", "CLUSTERDOWN");

	private static final String CLUSTER_NODE = "is a node of a Redis Cluster";

	private static final Pattern CLUSTER = Pattern.compile("cluster_enabled:(\\d)");

	/** A server counts whole seconds, and may begin in the middle of one. */
	private static final Duration ROUNDING = Duration.ofSeconds(2);

	private final RedisLayout layout;

	private final Duration maxLease;

	private final Duration restartDelay;

	/**
	 * Creates a check.
	 * @param restartDelay how long a server takes part in nothing after its start
	 */
	QuorumNodeCheck(RedisLayout layout, Duration maxLease, Duration restartDelay) {
		this.layout = layout;
		this.maxLease = maxLease;
		this.restartDelay = restartDelay;
	}

	/**
	 * Returns how long a server takes part in nothing after its start: the longest lease,
	 * and as much as the clocks of the server and of a holder may differ in that time.
	 */
	static Duration restartDelay(Duration maxLease) {
		return maxLease.plus(maxLease.dividedBy(100)).plus(ROUNDING);
	}

	/** The first command of a connection. */
	ScriptCall script() {
		return new ScriptCall(Script.QUORUM_NODE,
				new byte[][] { this.layout.format(), this.layout.quorumLongestLease(), this.layout.quorumMember() },
				new byte[][] { RedisLayout.bytes(RedisLayout.FORMAT.text()),
						RedisLayout.bytes(Long.toString(this.maxLease.toMillis())) });
	}

	/**
	 * Reads the reply to the first command.
	 * @param node the address, for messages
	 * @throws LockConfigurationException if the server cannot be a node of this quorum
	 */
	Identity check(String node, ScriptReply reply) {
		ServerInfo info = ServerInfo.of(reply, 2);
		info.requireSuitable(subject(node));
		String runId = info.runId();
		String uptime = info.find(ServerInfo.UPTIME);
		String role = info.find(ROLE);
		if (runId == null || uptime == null || role == null) {
			throw new LockConfigurationException(LockError.NOT_PERMITTED,
					subject(node)
							+ " does not tell its run id, uptime and role, by which a restarted node is recognized",
					"Allow INFO to the user, or use a server that has these fields");
		}
		String replicas = info.find(REPLICAS);
		String dependence = "1".equals(info.find(CLUSTER)) ? CLUSTER_NODE : !role.equals("master") ? "is a replica"
				: (replicas != null && !replicas.equals("0")) ? "has " + replicas + " replica(s)" : null;
		if (dependence != null) {
			throw notIndependent(node, dependence);
		}
		RedisLayout.FORMAT.requireSupported("the node " + node + " of the Redis quorum", text(reply, 0));
		requireLongestLease(node, text(reply, 1));
		info.warnOfEviction(subject(node));
		// Negative if the clock was set back: nobody knows since when the server runs.
		Duration missing = this.restartDelay.minusSeconds(Math.max(Long.parseLong(uptime), 0));
		return new Identity(runId, text(reply, 4).startsWith(runId), missing.isNegative() ? Duration.ZERO : missing);
	}

	/** Returns the beginning of a message, which names a node. */
	static String subject(String node) {
		return "The node " + node + " of the Redis quorum";
	}

	/**
	 * Returns that a node is refused, and why.
	 * @return the state, without the name of the node where the problem begins with that
	 */
	static String refused(String node, LockConfigurationException refusal) {
		String subject = subject(node) + " ";
		String problem = refusal.problem();
		return "refused"
				+ (problem.startsWith(subject) ? ", since it " + problem.substring(subject.length()) : ": " + problem);
	}

	/**
	 * Describes the failure of the first command. A node of a cluster serves no keys of
	 * other nodes.
	 */
	static Throwable failure(String node, Throwable failure) {
		return ErrorReply.of(failure).hasCode(OF_CLUSTER) ? notIndependent(node, CLUSTER_NODE) : failure;
	}

	private static LockConfigurationException notIndependent(String node, String problem) {
		return new LockConfigurationException(LockError.STORE_UNSUITABLE,
				subject(node) + " " + problem
						+ ": the nodes of a quorum are independent servers, since a replica that is promoted has"
						+ " forgotten locks without a restart",
				"Use servers without replication for distributed-lock.redis.quorum.nodes, or lock in the cluster or"
						+ " the master alone, by spring.data.redis");
	}

	private void requireLongestLease(String node, String stored) {
		if (!stored.equals(Long.toString(this.maxLease.toMillis()))) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					subject(node) + " is used with a " + RedisQuorumSettings.MAX_LEASE + " of " + stored
							+ " ms, but this process has " + this.maxLease.toMillis() + " ms",
					"Use the same value in all processes. To change it, stop all of them, wait for the longer of both"
							+ " times, and delete the key '"
							+ new String(this.layout.quorumLongestLease(), StandardCharsets.UTF_8) + "' on each node");
		}
	}

	private static String text(ScriptReply reply, int index) {
		return new String(reply.bytes(index), StandardCharsets.UTF_8);
	}

	/**
	 * What a server is.
	 *
	 * @param runId the random id of its process
	 * @param member whether its process knows the last orders
	 * @param missing how long it takes part in nothing from now on
	 */
	record Identity(String runId, boolean member, Duration missing) {
	}

}
