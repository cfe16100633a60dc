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

	private final List<NodeCall> calls;

	/** The nodes whose call has ended before a majority's; guarded by the monitor. */
	private final List<NodeCall> ended = new ArrayList<>();

	QuorumRelease(Quorum quorum, OwnerId owner, ScriptCall plain, Duration maxLease) {
		this.quorum = quorum;
		this.owner = owner;
		this.plain = plain;
		this.maxLease = maxLease;
		this.calls = NodeCall.of(quorum.nodes());
	}

	StoreCall<ReleaseOutcome> send(ScriptCall script, Duration timeout) {
		for (NodeCall attempt : this.quorum.partialGrant(this.owner)) {
			// Before the release: none is sent after it.
			attempt.abandon();
			this.attempts.put(attempt.node(), attempt);
		}
		this.quorum.send(this.calls, script, CallKind.RELEASE, Deadline.after(timeout), this::ended);
		this.call.onAbandon(() -> this.calls.forEach((one) -> one.call().abandon()));
		return this.call;
	}

	private void ended(NodeCall node) {
		ReleaseOutcome outcome;
		List<NodeCall> known = List.of();
		synchronized (this) {
			this.ended.add(node);
			outcome = outcome();
			if (outcome == ReleaseOutcome.RELEASED || outcome == ReleaseOutcome.NOT_HELD) {
				known = List.copyOf(this.ended);
				this.ended.clear();
				this.quorum.removePartialGrant(this.owner);
			}
		}
		known.forEach(this::repeatUntilConfirmed);
		if (outcome != null) {
			this.call.complete(outcome);
		}
	}

	/** Returns the outcome by the answers until now, or {@code null}. */
	private @Nullable ReleaseOutcome outcome() {
		int answered = NodeCall.replies(this.calls).size();
		int released = (int) this.calls.stream().filter(NodeCall::hasFoundOwner).count();
		if (released >= this.quorum.majority()) {
			return ReleaseOutcome.RELEASED;
		}
		if (this.quorum.excludesMajority(answered - released)) {
			return ReleaseOutcome.NOT_HELD;
		}
		return NodeCall.areDone(this.calls) ? ReleaseOutcome.UNKNOWN : null;
	}

	/** Leaves out a node that has no lock, nor will by an attempt without a reply. */
	private void repeatUntilConfirmed(NodeCall node) {
		NodeCall attempt = this.attempts.get(node.node());
		boolean confirmed = (attempt != null && attempt.mayTakeEffect()) ? node.hasFoundOwner()
				: node.reply() != null || (attempt != null && !attempt.hasGranted());
		if (!confirmed) {
			this.quorum.pending(node.node()).add(this.plain, attempt, this.maxLease);
		}
	}

}
