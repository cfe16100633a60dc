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
import io.distributedlock.redis.script.ScriptReply;

/**
 * What the nodes of a quorum have answered to one round of an attempt. Guarded by the
 * round until its result is known, and not changed after that.
 */
final class QuorumTally {

	private final Quorum quorum;

	/** The nodes that have granted the lock. */
	private final Map<QuorumNode, AttemptReply> granted = new LinkedHashMap<>();

	private final List<AttemptReply> busy = new ArrayList<>();

	/** The nodes that have raised their order. */
	private final Set<QuorumNode> confirmed = new HashSet<>();

	/** The nodes without a grant, or whose grant cannot count any more. */
	private final Set<QuorumNode> excluded = new HashSet<>();

	/** The nodes whose first script has ended. */
	private int ended;

	QuorumTally(Quorum quorum) {
		this.quorum = quorum;
	}

	void add(NodeCall node) {
		this.ended++;
		ScriptReply reply = node.reply();
		AttemptReply answer = (reply != null) ? new AttemptReply(reply) : null;
		if (answer != null && answer.isGranted()) {
			this.granted.put(node.node(), answer);
			return;
		}
		this.excluded.add(node.node());
		if (answer != null) {
			this.busy.add(answer);
		}
	}

	void addRaised(NodeCall node) {
		(node.hasFoundOwner() ? this.confirmed : this.excluded).add(node.node());
	}

	/**
	 * Whether a late grant may confirm that of the round. Excludes one with an order
	 * above it, since others may have been granted the lock meanwhile.
	 */
	boolean mayConfirm(NodeCall node, long order) {
		AttemptReply late = this.granted.get(node.node());
		if (late != null && late.order() > order) {
			this.excluded.add(node.node());
		}
		return !this.excluded.contains(node.node());
	}

	Map<QuorumNode, AttemptReply> granted() {
		return this.granted;
	}

	/** The number of nodes that have raised their order. */
	int confirmed() {
		return this.confirmed.size();
	}

	/** The number of nodes that have answered, whether or not they granted the lock. */
	int answered() {
		return this.granted.size() + this.busy.size();
	}

	/** Whether no node will answer the first script any more. */
	boolean isComplete() {
		return this.ended == this.quorum.size();
	}

	/** The most nodes whose grant may count in the end. */
	int possible() {
		return this.quorum.size() - this.excluded.size();
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
	 * Returns a reply with the owner that a majority may have granted the lock to, as far
	 * as the nodes that do not answer leave it open; {@code null} if the lock is split,
	 * or free. Of the replies it is the one with the rest of the lease that a majority
	 * has: a minority may have missed the last renewal, or keep what the others have
	 * released.
	 */
	@Nullable AttemptReply holder() {
		Map<String, List<AttemptReply>> owners = new HashMap<>();
		this.busy.stream()
			.filter((reply) -> !reply.owner().isEmpty())
			.forEach((reply) -> owners.computeIfAbsent(reply.owner(), (owner) -> new ArrayList<>()).add(reply));
		int needed = this.quorum.majority() - (this.quorum.size() - answered());
		return owners.values()
			.stream()
			.filter((replies) -> replies.size() >= needed)
			.max(Comparator.comparingInt(List::size))
			.flatMap((replies) -> replies.stream()
				.sorted(Comparator.comparing(QuorumTally::remaining).reversed())
				.limit(needed)
				.reduce((longer, shorter) -> shorter))
			.orElse(null);
	}

	private static Duration remaining(AttemptReply reply) {
		LockHolder holder = reply.holder();
		return (holder != null && holder.remaining() != null) ? holder.remaining() : Duration.ZERO;
	}

}
