package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

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

	/** The attempts of the nodes that were not seen to grant the lock. */
	private final Map<QuorumNode, NodeCall> attempts = new HashMap<>();

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
		for (NodeCall attempt : this.quorum.partialGrant(this.owner)) {
			// Before the release: none is sent after it.
			attempt.abandon();
			this.attempts.put(attempt.node(), attempt);
		}
		List<NodeCall> calls = NodeCall.of(this.quorum.nodes());
		this.quorum.send(calls, script, CallKind.RELEASE, Deadline.after(timeout), this::ended);
		this.call.onAbandon(() -> calls.forEach((one) -> one.call().abandon()));
		return this.call;
	}

	private void ended(NodeCall node) {
		boolean held = node.hasFoundOwner();
		boolean confirmed = isConfirmed(node, held);
		ReleaseOutcome outcome;
		List<QuorumNode> open;
		synchronized (this) {
			this.ended++;
			this.released += held ? 1 : 0;
			this.notHeld += (held || node.failure() != null) ? 0 : 1;
			if (!confirmed) {
				this.unconfirmed.add(node.node());
			}
			outcome = outcome();
			this.decided |= outcome == ReleaseOutcome.RELEASED || outcome == ReleaseOutcome.NOT_HELD;
			open = this.decided ? List.copyOf(this.unconfirmed) : List.of();
			if (this.decided) {
				this.unconfirmed.clear();
				this.quorum.removePartialGrant(this.owner);
			}
		}
		open.forEach((later) -> this.quorum.pending(later).add(this.plain, this.attempts.get(later), this.maxLease));
		if (outcome != null) {
			this.call.complete(outcome);
		}
	}

	/** Whether a node does not have the lock, nor will by an attempt without a reply. */
	private boolean isConfirmed(NodeCall node, boolean held) {
		NodeCall attempt = this.attempts.get(node.node());
		if (attempt != null && attempt.mayTakeEffect()) {
			return held;
		}
		return node.failure() == null || (attempt != null && !attempt.hasGranted());
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
