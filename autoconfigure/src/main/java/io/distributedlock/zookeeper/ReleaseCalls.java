package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * Calls that release a grant. A release that is not answered, or whose call is abandoned,
 * is added to the {@link UndecidedCommands}: no later call sends it again blindly.
 */
final class ReleaseCalls {

	private final LockNodeRegistry lockNodes;

	private final ReleaseOperation releaseOperation;

	private final UndecidedCommands undecided;

	private final LockTimer timer;

	ReleaseCalls(LockNodeRegistry lockNodes, ReleaseOperation releaseOperation, UndecidedCommands undecided,
			LockTimer timer) {
		this.lockNodes = lockNodes;
		this.releaseOperation = releaseOperation;
		this.undecided = undecided;
		this.timer = timer;
	}

	/** Releases the lock node of an owner, or finds out what has become of it. */
	StoreCall<ReleaseOutcome> release(LockKey key, OwnerId owner, Duration timeout) {
		LockNode node = this.lockNodes.find(key, owner);
		if (node != null && this.lockNodes.remove(node)) {
			return release(node, timeout);
		}
		CompletableFuture<ReleaseOutcome> end = this.undecided.find(key, owner);
		if (end == null) {
			return AnsweredStoreCall.of(this.undecided.pollOutcome(owner));
		}
		CompletableStoreCall<ReleaseOutcome> call = new CompletableStoreCall<>();
		CallDeadline deadline = new CallDeadline(call, timeout, this.timer);
		call.onAbandon(deadline);
		awaitDecision(owner, end, call, deadline);
		return call;
	}

	private StoreCall<ReleaseOutcome> release(LockNode node, Duration timeout) {
		CompletableStoreCall<ReleaseOutcome> call = new CompletableStoreCall<>();
		CallDeadline deadline = new CallDeadline(call, timeout, this.timer);
		deadline.begin(node.session());
		call.onAbandon(deadline);
		CompletableFuture<Boolean> sent = this.releaseOperation.release(node);
		deadline.await(sent, (existed, failure) -> answered(node, sent, existed, call, deadline));
		return call;
	}

	private void answered(LockNode node, CompletableFuture<Boolean> sent, @Nullable Boolean existed,
			CompletableStoreCall<ReleaseOutcome> call, CallDeadline deadline) {
		if (existed == null && !node.session().hasEnded()) {
			awaitDecision(node.owner(), this.undecided.addRelease(node, sent), call, deadline);
			return;
		}
		boolean released = existed != null && existed;
		// Without an answer the release or the end of the session may have been first.
		ReleaseOutcome outcome = (existed == null) ? ReleaseOutcome.UNKNOWN
				: released ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD;
		if (!call.complete(outcome) && released) {
			// Remembered for the next call of the owner.
			this.undecided.addRelease(node, sent);
		}
	}

	/** Ends a call once the command of an owner is decided. */
	private void awaitDecision(OwnerId owner, CompletableFuture<ReleaseOutcome> end,
			CompletableStoreCall<ReleaseOutcome> call, CallDeadline deadline) {
		deadline.await(end, (outcome, failure) -> {
			if (outcome != null && call.complete(outcome)) {
				this.undecided.pollOutcome(owner);
			}
		});
	}

}
