package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.redis.script.ScriptCall;

/**
 * One release on all nodes of a quorum. Its outcome is that of a majority; the nodes that
 * have not answered by then release the lock in the background, each until it confirms.
 * Without a majority the outcome is unknown, and the caller repeats the release.
 */
final class QuorumRelease {

	private final Quorum quorum;

	private final OwnerId owner;

	/** The attempts that may still take effect on their nodes, which replied nothing. */
	private final Map<QuorumNode, NodeCall> unclear = new HashMap<>();

	/** The nodes that never granted the lock, nor will. */
	private final Set<QuorumNode> without = new HashSet<>();

	/** What a node without an answer runs later. */
	private final ScriptCall plain;

	private final Duration maxLease;

	private final CompletableStoreCall<ReleaseOutcome> call = new CompletableStoreCall<>();

	/**
	 * The nodes that have not confirmed the release before a majority has answered;
	 * guarded by the monitor.
	 */
	private final List<QuorumNode> unconfirmed = new ArrayList<>();

	/** Guarded by the monitor. */
	private int released;

	/** Guarded by the monitor. */
	private int notHeld;

	/** Guarded by the monitor. */
	private int ended;

	/** Whether a majority has answered; guarded by the monitor. */
	private boolean decided;

	QuorumRelease(Quorum quorum, OwnerId owner, ScriptCall plain, Duration maxLease) {
		this.quorum = quorum;
		this.owner = owner;
		this.plain = plain;
		this.maxLease = maxLease;
	}

	StoreCall<ReleaseOutcome> send(ScriptCall script, Duration timeout) {
		this.quorum.partialGrants().find(this.owner).forEach(this::judge);
		List<NodeCall> calls = this.quorum.send(this.quorum.nodes(), script, CallKind.RELEASE, Deadline.after(timeout),
				this::ended);
		this.call.onAbandon(() -> calls.forEach((one) -> one.call().abandon()));
		return this.call;
	}

	/** Ends an attempt before the release is sent, so that none is sent after it. */
	private void judge(NodeCall attempt) {
		attempt.abandon();
		if (attempt.mayTakeEffect()) {
			this.unclear.put(attempt.node(), attempt);
		}
		else if (!attempt.hasGranted()) {
			this.without.add(attempt.node());
		}
	}

	private void ended(NodeCall node) {
		boolean failure = node.failure() != null;
		ReleaseOutcome outcome;
		List<QuorumNode> open;
		synchronized (this) {
			this.ended++;
			boolean held = !failure && node.call().result().number(0) == 1;
			this.released += held ? 1 : 0;
			this.notHeld += (failure || held) ? 0 : 1;
			if (this.unclear.containsKey(node.node()) ? !held : (failure && !this.without.contains(node.node()))) {
				this.unconfirmed.add(node.node());
			}
			outcome = outcome();
			this.decided |= outcome == ReleaseOutcome.RELEASED || outcome == ReleaseOutcome.NOT_HELD;
			open = this.decided ? List.copyOf(this.unconfirmed) : List.of();
			if (this.decided) {
				this.unconfirmed.clear();
				this.quorum.partialGrants().remove(this.owner);
			}
		}
		open.forEach(this::releaseLater);
		if (outcome != null) {
			this.call.complete(outcome);
		}
	}

	private void releaseLater(QuorumNode node) {
		NodeCall attempt = this.unclear.get(node);
		if (attempt != null) {
			this.quorum.pending(node).addUnclear(this.plain, attempt, this.maxLease);
		}
		else {
			this.quorum.pending(node).addGranted(this.plain, this.maxLease);
		}
	}

	private @Nullable ReleaseOutcome outcome() {
		if (this.released >= this.quorum.majority()) {
			return ReleaseOutcome.RELEASED;
		}
		if (this.quorum.excludesMajority(this.notHeld)) {
			return ReleaseOutcome.NOT_HELD;
		}
		return (this.ended == this.quorum.size()) ? ReleaseOutcome.UNKNOWN : null;
	}

}
