package io.distributedlock.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * One release on all nodes of a quorum. Its outcome is that of a majority; the nodes that
 * have not answered by then release the lock in the background, each until it confirms.
 * Without a majority the outcome is unknown, and the caller repeats the release.
 */
final class QuorumRelease {

	private final Quorum quorum;

	/** What a node without an answer runs later. */
	private final ScriptCall plain;

	private final Duration maxLease;

	private final CompletableStoreCall<ReleaseOutcome> call = new CompletableStoreCall<>();

	/** The nodes that failed before a majority has answered; guarded by the monitor. */
	private final List<QuorumNode> failed = new ArrayList<>();

	/** Guarded by the monitor. */
	private int released;

	/** Guarded by the monitor. */
	private int notHeld;

	/** Guarded by the monitor. */
	private int ended;

	/** Whether a majority has answered; guarded by the monitor. */
	private boolean decided;

	QuorumRelease(Quorum quorum, ScriptCall plain, Duration maxLease) {
		this.quorum = quorum;
		this.plain = plain;
		this.maxLease = maxLease;
	}

	StoreCall<ReleaseOutcome> send(ScriptCall script, Duration timeout) {
		List<NodeCall> calls = this.quorum.send(this.quorum.nodes(), script, CallKind.RELEASE, Deadline.after(timeout),
				this::ended);
		this.call.onAbandon(() -> calls.forEach((one) -> one.call().abandon()));
		return this.call;
	}

	private void ended(NodeCall node) {
		boolean failure = Quorum.failure(node) != null;
		ReleaseOutcome outcome;
		List<QuorumNode> open;
		synchronized (this) {
			this.ended++;
			if (failure) {
				this.failed.add(node.node());
			}
			else if (node.call().result().number(0) == 1) {
				this.released++;
			}
			else {
				this.notHeld++;
			}
			outcome = outcome();
			this.decided |= outcome == ReleaseOutcome.RELEASED || outcome == ReleaseOutcome.NOT_HELD;
			open = this.decided ? List.copyOf(this.failed) : List.of();
			if (this.decided) {
				this.failed.clear();
			}
		}
		open.forEach((one) -> this.quorum.pending(one).addGranted(this.plain, this.maxLease));
		if (outcome != null) {
			this.call.complete(outcome);
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
