package io.distributedlock.redis.quorum;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.redis.AttemptReply;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.ScriptCall;

/**
 * One round of an attempt on all nodes of a quorum; a round that ends in a split is
 * followed by another one of the same call.
 * <ol>
 * <li><b>Grant.</b> All nodes are asked together. The lock is ours once a majority has
 * granted it; the order is the highest that they have replied.</li>
 * <li><b>Order.</b> The nodes that granted the lock raise their last orders to that
 * order. The grant counts once a majority has done so and still has the owner: any later
 * majority has one of them, and so a higher order. Until then nobody sees the grant.</li>
 * <li><b>Busy.</b> Once no majority can grant it, but a majority has answered, the nodes
 * that did grant it, and those that may yet do so, release it. If the lock was split
 * among contenders, none of which has it, the next round begins after a random
 * pause.</li>
 * <li><b>Failure.</b> If less than a majority has answered, the caller releases what was
 * granted, as after any unclear attempt.</li>
 * </ol>
 * <b>Invariant.</b> The owner id is used again, by the next round or attempt, only once
 * all nodes have answered the last round and have confirmed its release. A release that
 * is repeated later would end the new grant on its node. The answer that the lock is busy
 * tells so.
 * <p>
 * The validity counts from the call, and is the shortest of a majority: the engine
 * subtracts what the clocks may differ by.
 */
final class QuorumAttempt {

	/** How long a majority waits for the others, if the result may depend on them. */
	private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private static final long SHORTEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

	private static final int MOST_DOUBLINGS = 5;

	private final Quorum quorum;

	private final QuorumRequest request;

	private final CompletableStoreCall<AttemptResult> call;

	/** The number of this round; all before it ended in a split. */
	private final int number;

	private final List<NodeCall> calls;

	private final QuorumTally tally;

	/** Whether the result is known; guarded by the monitor. */
	private boolean over;

	/** Whether the end is planned without the nodes that are late; guarded too. */
	private boolean expiring;

	private QuorumAttempt(Quorum quorum, QuorumRequest request, CompletableStoreCall<AttemptResult> call, int number) {
		this.quorum = quorum;
		this.request = request;
		this.call = call;
		this.number = number;
		this.calls = NodeCall.of(quorum.nodes());
		this.tally = new QuorumTally(quorum, this.calls);
	}

	static CompletableStoreCall<AttemptResult> send(Quorum quorum, QuorumRequest request) {
		CompletableStoreCall<AttemptResult> call = new CompletableStoreCall<>();
		new QuorumAttempt(quorum, request, call, 1).send();
		return call;
	}

	private void send() {
		this.call.onAbandon(this::leaveToCaller);
		// Nothing is to be released of a round that was not sent.
		if (!this.call.isAbandoned()) {
			this.quorum.send(this.calls, this.quorum.attempt(this.request), CallKind.ACQUIRE, this.request.deadline(),
					(ended) -> proceed());
		}
	}

	/** Handles the end of either script on one node. */
	private void proceed() {
		List<NodeCall> raises;
		Runnable next;
		synchronized (this) {
			if (this.over) {
				return;
			}
			raises = this.tally.newRaises();
			next = decide();
		}
		if (!raises.isEmpty()) {
			this.quorum.send(raises, this.quorum.order(this.request.keys(), this.request.owner(), this.tally.order()),
					CallKind.ACQUIRE, this.request.deadline(), (ended) -> proceed());
		}
		if (next != null) {
			next.run();
		}
	}

	/**
	 * Returns what follows outside the monitor, or nothing if further nodes will answer.
	 */
	private @Nullable Runnable decide() {
		if (this.tally.isConfirmed()) {
			this.over = true;
			return this::grant;
		}
		boolean answered = this.tally.answered() >= this.quorum.majority();
		if (!this.tally.isPossible()) {
			// Less than a majority that has answered is a failure, and no busy lock.
			this.over = answered || NodeCall.areDone(this.calls);
			return this.over ? this::refuse : null;
		}
		if (this.tally.order() == 0 && answered && !this.expiring) {
			this.expiring = true;
			return () -> this.quorum.timer().trySchedule(this::expire, PATIENCE_NANOS);
		}
		return null;
	}

	private void grant() {
		this.quorum.addPartialGrant(this.request.owner(), this.calls, this.request.lease());
		this.call.complete(new AttemptResult.Granted(new LockGrant(this.request.key(), this.request.owner(),
				this.tally.order(), this.tally.validity(this.request.lease()))));
	}

	/** Ends the round without the nodes that are late. */
	private void expire() {
		synchronized (this) {
			if (this.over || this.tally.order() > 0) {
				return;
			}
			this.over = true;
		}
		refuse();
	}

	private void refuse() {
		if (this.tally.order() > 0) {
			leaveToCaller();
			this.call.fail(new LockProviderException(LockError.STORE_FAILED, RedisErrors.PROVIDER,
					"granted a lock that no majority of its nodes kept: nodes were lost, or the lease is too short",
					null));
			return;
		}
		if (this.tally.answered() < this.quorum.majority()) {
			leaveToCaller();
			boolean sent = this.calls.stream().anyMatch((node) -> node.call().mayHaveBeenSent());
			this.call.fail(this.quorum.noMajority(this.calls, sent));
			return;
		}
		boolean clear = NodeCall.areDone(this.calls) && this.calls.stream().noneMatch(NodeCall::mayTakeEffect);
		AttemptReply holder = this.tally.holder();
		if (clear && holder == null && this.request.deadline().remainingNanos() > PATIENCE_NANOS * 4) {
			releaseAndRepeat();
		}
		else {
			endBusy(holder);
		}
	}

	/** Ends a round that the caller alone releases, until a majority confirms that. */
	private void leaveToCaller() {
		synchronized (this) {
			this.over = true;
		}
		this.calls.forEach(NodeCall::abandon);
		this.quorum.addPartialGrant(this.request.owner(), this.calls, this.request.lease());
	}

	private void releaseAndRepeat() {
		List<QuorumNode> granted = this.calls.stream().filter(NodeCall::hasGranted).map(NodeCall::node).toList();
		if (granted.isEmpty()) {
			repeat();
			return;
		}
		List<NodeCall> releases = NodeCall.of(granted);
		AtomicInteger open = new AtomicInteger(releases.size());
		this.quorum.send(releases, release(), CallKind.RELEASE, this.request.deadline(), (ended) -> {
			if (open.decrementAndGet() > 0) {
				return;
			}
			if (NodeCall.replies(releases).size() == releases.size()) {
				repeat();
			}
			else {
				endBusy(null);
			}
		});
	}

	private void repeat() {
		long longest = SHORTEST_PAUSE_NANOS << Math.min(this.number, MOST_DOUBLINGS);
		QuorumAttempt next = new QuorumAttempt(this.quorum, this.request, this.call, this.number + 1);
		if (this.quorum.timer().trySchedule(next::send, ThreadLocalRandom.current().nextLong(longest) + 1) == null) {
			this.call.fail(RedisErrors.closed(null));
		}
	}

	private void endBusy(@Nullable AttemptReply holder) {
		boolean releasePending = giveUp();
		this.call.complete(this.request.onBusy().apply(holder, releasePending));
	}

	/**
	 * Releases in the background what this round was granted, and may yet be. A call that
	 * is abandoned first has its last state: what a node granted is never missed because
	 * its end is handled by another thread just now.
	 * @return whether there is such a release
	 */
	private boolean giveUp() {
		synchronized (this) {
			this.over = true;
		}
		boolean pending = false;
		for (NodeCall node : this.calls) {
			// Before its release: none is sent after it.
			node.abandon();
			if (node.mayTakeEffect() || node.hasGranted()) {
				this.quorum.pending(node.node()).add(release(), node, this.request.lease());
				pending = true;
			}
		}
		return pending;
	}

	private ScriptCall release() {
		return this.quorum.release(this.request.keys(), this.request.owner());
	}

}
