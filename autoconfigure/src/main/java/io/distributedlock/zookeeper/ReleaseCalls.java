package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.zookeeper.node.LockNode;
import io.distributedlock.zookeeper.node.LockNodeRegistry;
import io.distributedlock.zookeeper.node.ReleaseOperations;
import io.distributedlock.zookeeper.node.SentCommand;
import io.distributedlock.zookeeper.node.UnacknowledgedCommands;
import io.distributedlock.zookeeper.session.CallDeadline;
import io.distributedlock.zookeeper.session.ZooKeeperErrors;

/**
 * Calls that release a grant. A release that is not answered, or whose call is abandoned,
 * is added to the {@link UnacknowledgedCommands}: no later call sends it again blindly.
 */
public final class ReleaseCalls {

	private static final Log logger = LogFactory.getLog(ReleaseCalls.class);

	private final LockNodeRegistry lockNodes;

	private final ReleaseOperations releases;

	private final UnacknowledgedCommands undecided;

	private final LockTimer timer;

	public ReleaseCalls(LockNodeRegistry lockNodes, ReleaseOperations releases, UnacknowledgedCommands undecided,
			LockTimer timer) {
		this.lockNodes = lockNodes;
		this.releases = releases;
		this.undecided = undecided;
		this.timer = timer;
	}

	/** Releases the lock node of an owner, or finds out what has become of it. */
	public StoreCall<ReleaseOutcome> release(LockKey key, OwnerId owner, Duration timeout) {
		LockNode node = this.lockNodes.find(key, owner);
		if (node != null && this.lockNodes.beginRelease(node)) {
			return await(node, this.releases.release(node), timeout);
		}
		CompletableFuture<ReleaseOutcome> decided = this.undecided.find(key, owner);
		if (decided == null) {
			return AnsweredStoreCall.of(this.undecided.pollOutcome(owner));
		}
		CompletableStoreCall<ReleaseOutcome> call = new CompletableStoreCall<>();
		awaitDecision(owner, decided, call, new CallDeadline(call, timeout, this.timer));
		return call;
	}

	/** Releases a lock node that was found contended. */
	StoreCall<ReleaseOutcome> reserve(LockNode node, Duration timeout) {
		return await(node, this.releases.reserve(node), timeout);
	}

	private StoreCall<ReleaseOutcome> await(LockNode node, CompletableFuture<Boolean> sent, Duration timeout) {
		CompletableStoreCall<ReleaseOutcome> call = new CompletableStoreCall<>();
		CallDeadline deadline = new CallDeadline(call, timeout, this.timer);
		deadline.begin(node.session());
		deadline.await(sent, (existed, failure) -> {
			if (existed != null) {
				this.lockNodes.remove(node);
				boolean completed = call.complete(existed ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD);
				if (existed && !completed) {
					// Remembered for the next call of the owner.
					this.undecided.addRelease(node, () -> sent);
				}
			}
			else if (node.session().hasEnded()) {
				logger.debug("The session has ended in which '" + node.key() + "' was released", failure);
				this.lockNodes.remove(node);
				call.complete(outcomeAfterSession(node, failure));
			}
			else {
				CompletableFuture<ReleaseOutcome> decided = this.undecided.addRelease(node, () -> sent);
				this.lockNodes.remove(node);
				awaitDecision(node.owner(), decided, call, deadline);
			}
		});
		return call;
	}

	/**
	 * Waits for the decision of a release that was sent and not answered.
	 * @param failure the answer, or {@code null} if none came in time
	 */
	StoreCall<ReleaseOutcome> awaitDecision(SentCommand command, @Nullable Throwable failure, Duration timeout) {
		LockNode node = command.lockNode();
		if (failure != null && node.session().hasEnded()) {
			ReleaseOutcome outcome = outcomeAfterSession(node, failure);
			this.undecided.end(command, outcome);
			return AnsweredStoreCall.of(outcome);
		}
		CompletableFuture<ReleaseOutcome> decided = command.answer();
		if (failure != null) {
			this.undecided.retryLater(command, failure);
		}
		CompletableStoreCall<ReleaseOutcome> call = new CompletableStoreCall<>();
		CallDeadline deadline = new CallDeadline(call, timeout, this.timer);
		deadline.begin(node.session());
		awaitDecision(node.owner(), decided, call, deadline);
		return call;
	}

	/**
	 * Returns the outcome of a release without an answer, whose session has ended. The
	 * servers execute nothing in an expired session. But the client itself answers in the
	 * same way once its handle is closed: then the release or the end of the session may
	 * have been first.
	 */
	private static ReleaseOutcome outcomeAfterSession(LockNode node, @Nullable Throwable failure) {
		return (ZooKeeperErrors.is(failure, Code.SESSIONEXPIRED) && node.session().isAlive()) ? ReleaseOutcome.NOT_HELD
				: ReleaseOutcome.UNKNOWN;
	}

	/**
	 * Ends a call once the command of an owner is decided, or at once if the servers
	 * refuse its release.
	 */
	private void awaitDecision(OwnerId owner, CompletableFuture<ReleaseOutcome> decided,
			CompletableStoreCall<ReleaseOutcome> call, CallDeadline deadline) {
		deadline.await(decided, (outcome, failure) -> {
			if (outcome != null && call.complete(outcome) && outcome != ReleaseOutcome.UNKNOWN) {
				this.undecided.pollOutcome(owner);
			}
		});
	}

}
