package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;
import io.distributedlock.redis.AttemptReply;

/**
 * What the nodes of a quorum have answered to one round of an attempt. Guarded by the
 * round until its result is known, and not changed after that.
 */
final class QuorumTally {

	private final Quorum quorum;

	/** The grants that may still count, by node. */
	private final Map<QuorumNode, AttemptReply> granted = new LinkedHashMap<>();

	private final List<AttemptReply> busy = new ArrayList<>();

	/** The nodes that have raised their order. */
	private final Set<QuorumNode> confirmed = new HashSet<>();

	/** The nodes whose grant cannot count any more. */
	private final Set<QuorumNode> excluded = new HashSet<>();

	/** The nodes without an answer to the first script. */
	private int failed;

	QuorumTally(Quorum quorum) {
		this.quorum = quorum;
	}

	void add(NodeCall node) {
		if (node.failure() != null) {
			this.failed++;
			return;
		}
		AttemptReply reply = new AttemptReply(node.call().result());
		if (reply.isGranted()) {
			this.granted.put(node.node(), reply);
		}
		else {
			this.busy.add(reply);
		}
	}

	void addRaised(NodeCall node) {
		if (node.failure() == null && node.call().result().number(0) == 1) {
			this.confirmed.add(node.node());
		}
		else {
			this.excluded.add(node.node());
		}
	}

	/**
	 * Excludes a late grant with an order above that of the round, which a node with
	 * higher orders cannot confirm.
	 */
	boolean excludes(NodeCall node, long order) {
		AttemptReply late = this.granted.get(node.node());
		return late == null || (late.order() > order && this.excluded.add(node.node()));
	}

	Map<QuorumNode, AttemptReply> granted() {
		return this.granted;
	}

	Set<QuorumNode> confirmed() {
		return this.confirmed;
	}

	/** The number of nodes that have answered, whether or not they granted the lock. */
	int answered() {
		return this.granted.size() + this.busy.size();
	}

	/** The number of nodes that may still answer. */
	int pending() {
		return this.quorum.size() - answered() - this.failed;
	}

	/** The most nodes whose grant may count in the end. */
	int possible() {
		return this.quorum.size() - this.busy.size() - this.failed - this.excluded.size();
	}

	long highestOrder() {
		return this.granted.values().stream().mapToLong(AttemptReply::order).max().orElseThrow();
	}

	/** The shortest validity of the majority that keeps the lock the longest. */
	Duration validity(Duration lease) {
		return this.confirmed.stream()
			.map((node) -> Objects.requireNonNull(this.granted.get(node)).validity(lease))
			.sorted(Comparator.<Duration>naturalOrder().reversed())
			.skip(this.quorum.majority() - 1)
			.findFirst()
			.orElseThrow();
	}

	/**
	 * Returns the owner that a majority may have granted the lock to, as far as the nodes
	 * that do not answer leave it open; {@code null} if the lock is split, or free. The
	 * rest of its lease is that of a majority: a minority may have missed the last
	 * renewal, or keep what the others have released.
	 */
	@Nullable QuorumHolder holder() {
		Map<String, List<AttemptReply>> owners = new HashMap<>();
		this.busy.stream()
			.filter((reply) -> !reply.owner().isEmpty())
			.forEach((reply) -> owners.computeIfAbsent(reply.owner(), (owner) -> new ArrayList<>()).add(reply));
		int needed = this.quorum.majority() - (this.quorum.size() - answered());
		return owners.entrySet()
			.stream()
			.filter((entry) -> entry.getValue().size() >= needed)
			.max(Comparator.comparingInt((entry) -> entry.getValue().size()))
			.map((entry) -> new QuorumHolder(entry.getKey(), holder(entry.getValue(), needed)))
			.orElse(null);
	}

	/**
	 * Returns the holder as one of the replies has it.
	 * @param rank which reply: 1 for the one with the longest rest of the lease
	 */
	private static @Nullable LockHolder holder(List<AttemptReply> replies, int rank) {
		return replies.stream()
			.map(AttemptReply::holder)
			.filter(Objects::nonNull)
			.sorted(Comparator.comparing(QuorumTally::remaining).reversed())
			.limit(rank)
			.reduce((longer, shorter) -> shorter)
			.orElse(null);
	}

	private static Duration remaining(LockHolder holder) {
		return Objects.requireNonNullElse(holder.remaining(), Duration.ZERO);
	}

}
