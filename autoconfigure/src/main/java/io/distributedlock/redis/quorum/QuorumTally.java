package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;
import io.distributedlock.redis.AttemptReply;

/**
 * What the nodes of a quorum have answered to one round of an attempt, as the calls of
 * the round have it now. Guarded by the round until its result is known.
 */
final class QuorumTally {

	private final Quorum quorum;

	private final List<NodeCall> attempts;

	/** The calls that raise the orders of the nodes, by node. */
	private final Map<QuorumNode, NodeCall> raises = new LinkedHashMap<>();

	/** The order of the grant, 0 before a majority has granted the lock. */
	private long order;

	QuorumTally(Quorum quorum, List<NodeCall> attempts) {
		this.quorum = quorum;
		this.attempts = attempts;
	}

	long order() {
		return this.order;
	}

	/**
	 * Begins to raise the orders of the nodes that have granted the lock, once these are
	 * a majority. Leaves out a late grant with an order above that of the round, since
	 * others may have been granted the lock meanwhile.
	 * @return the calls, which are to be sent
	 */
	List<NodeCall> newRaises() {
		List<NodeCall> granted = this.attempts.stream().filter(NodeCall::hasGranted).toList();
		if (this.order == 0 && granted.size() >= this.quorum.majority()) {
			this.order = granted.stream().mapToLong(QuorumTally::order).max().orElseThrow();
		}
		List<NodeCall> begun = new ArrayList<>();
		for (NodeCall attempt : granted) {
			if (order(attempt) <= this.order && !this.raises.containsKey(attempt.node())) {
				NodeCall raise = new NodeCall(attempt.node());
				this.raises.put(attempt.node(), raise);
				begun.add(raise);
			}
		}
		return begun;
	}

	private static long order(NodeCall granted) {
		return granted.call().result().number(0);
	}

	/** The number of nodes that have answered, whether or not they granted the lock. */
	int answered() {
		return NodeCall.replies(this.attempts).size();
	}

	/** Whether a majority has raised its order, and still has the owner. */
	boolean isConfirmed() {
		return this.attempts.stream().filter(this::hasConfirmed).count() >= this.quorum.majority();
	}

	private boolean hasConfirmed(NodeCall attempt) {
		NodeCall raise = this.raises.get(attempt.node());
		return raise != null && raise.hasFoundOwner();
	}

	/** Whether the grants of a majority may count in the end. */
	boolean isPossible() {
		return this.attempts.stream().filter(this::mayConfirm).count() >= this.quorum.majority();
	}

	private boolean mayConfirm(NodeCall attempt) {
		if (!attempt.call().isDone()) {
			return true;
		}
		NodeCall raise = this.raises.get(attempt.node());
		return (raise != null) ? !raise.call().isDone() || raise.hasFoundOwner()
				: attempt.hasGranted() && (this.order == 0 || order(attempt) <= this.order);
	}

	/** The shortest validity of the majority that keeps the lock the longest. */
	Duration validity(Duration lease) {
		return this.attempts.stream()
			.filter(this::hasConfirmed)
			.map((attempt) -> new AttemptReply(attempt.call().result()).validity(lease))
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
		NodeCall.replies(this.attempts)
			.stream()
			.map(AttemptReply::new)
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
