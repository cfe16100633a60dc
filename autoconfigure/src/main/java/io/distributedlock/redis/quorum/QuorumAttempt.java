package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.RedisLockKeys;
import io.distributedlock.redis.script.ScriptCall;

/**
 * One attempt on all nodes of a quorum.
 * <ol>
 * <li><b>Grant.</b> All nodes are asked together. The lock is ours once a majority has
 * granted it; the order is the highest that they have replied.</li>
 * <li><b>Order.</b> The nodes that granted the lock raise their last orders to that
 * order. The grant counts once a majority has done so and still has the owner: any later
 * majority has one of them, and so a higher order. Until then nobody sees the grant.</li>
 * <li><b>Busy.</b> Once no majority can grant it, but a majority has answered, the nodes
 * that did grant it, and those that may yet do so, release it. If the lock was split
 * among contenders, none of which has it, the attempt begins again after a random
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

	private final LockKey key;

	private final RedisLockKeys keys;

	private final OwnerId owner;

	private final Duration lease;

	private final Deadline deadline;

	/** Whether the lock was busy when this process asked last. */
	private final boolean probablyBusy;

	private final BiFunction<@Nullable QuorumHolder, Boolean, AttemptResult.Busy> onBusy;

	private final CompletableStoreCall<AttemptResult> call = new CompletableStoreCall<>();

	/** The present round, which ends before the next one begins. */
	private volatile @Nullable Round round;

	/** The rounds that ended in a split; only one thread at a time counts. */
	private int splits;

	/**
	 * Creates an attempt.
	 * @param onBusy makes the answer that the lock is busy, of its holder if it has one,
	 * and of whether a release of the owner is pending
	 */
	QuorumAttempt(Quorum quorum, QuorumRequest request, boolean probablyBusy,
			BiFunction<@Nullable QuorumHolder, Boolean, AttemptResult.Busy> onBusy) {
		this.quorum = quorum;
		this.key = request.key();
		this.keys = request.keys();
		this.owner = request.owner();
		this.lease = request.lease();
		this.deadline = request.deadline();
		this.probablyBusy = probablyBusy;
		this.onBusy = onBusy;
	}

	CompletableStoreCall<AttemptResult> send() {
		this.call.onAbandon(this::abandon);
		begin();
		return this.call;
	}

	private void begin() {
		Round next = new Round();
		this.round = next;
		// Nothing is to be released of a round that was not sent.
		if (!this.call.isAbandoned()) {
			next.send();
		}
	}

	/** The caller releases the lock, also on nodes that may grant it later. */
	private void abandon() {
		Round last = this.round;
		if (last != null) {
			last.leaveToCaller();
		}
	}

	private ScriptCall release() {
		return this.quorum.release(this.keys, this.owner);
	}

	private void repeatAfterSplit() {
		long longest = SHORTEST_PAUSE_NANOS << Math.min(++this.splits, MOST_DOUBLINGS);
		long pause = ThreadLocalRandom.current().nextLong(longest) + 1;
		if (this.quorum.timer().schedule(this::begin, pause) == null) {
			this.call.fail(RedisErrors.closed(null));
		}
	}

	/** One round on all nodes. */
	private final class Round {

		private final QuorumTally tally = new QuorumTally(QuorumAttempt.this.quorum);

		private final List<NodeCall> calls = QuorumAttempt.this.quorum.nodes().stream().map(NodeCall::new).toList();

		/** Whether the result is known; guarded by the monitor. */
		private boolean over;

		/** Whether the end is planned without the nodes that are late; guarded too. */
		private boolean expiring;

		/** The order of the grant, 0 before the majority; guarded by the monitor. */
		private long order;

		private void send() {
			ScriptCall script = QuorumAttempt.this.quorum.attempt(QuorumAttempt.this.keys, QuorumAttempt.this.owner,
					QuorumAttempt.this.lease, !QuorumAttempt.this.probablyBusy);
			this.calls.forEach((node) -> {
				node.call().onDone(() -> answered(node));
				node.send(script, CallKind.ACQUIRE, QuorumAttempt.this.deadline);
			});
		}

		/** Handles the end of one node's attempt. */
		private void answered(NodeCall node) {
			Decision decision;
			List<QuorumNode> toRaise = List.of();
			synchronized (this) {
				if (this.over) {
					return;
				}
				this.tally.add(node);
				if (this.order == 0 && this.tally.granted().size() >= QuorumAttempt.this.quorum.majority()) {
					this.order = this.tally.highestOrder();
					toRaise = List.copyOf(this.tally.granted().keySet());
				}
				else if (this.order > 0 && !this.tally.excludes(node, this.order)) {
					toRaise = List.of(node.node());
				}
				decision = decide();
			}
			raise(toRaise);
			act(decision);
		}

		private void raise(List<QuorumNode> nodes) {
			if (!nodes.isEmpty()) {
				QuorumAttempt.this.quorum.send(nodes,
						QuorumAttempt.this.quorum.order(QuorumAttempt.this.keys, QuorumAttempt.this.owner, this.order),
						CallKind.ACQUIRE, QuorumAttempt.this.deadline, this::raised);
			}
		}

		/** Handles the end of the second script on one node. */
		private void raised(NodeCall node) {
			Decision decision;
			synchronized (this) {
				if (this.over) {
					return;
				}
				this.tally.addRaised(node);
				decision = decide();
			}
			act(decision);
		}

		private Decision decide() {
			int majority = QuorumAttempt.this.quorum.majority();
			if (this.tally.confirmed().size() >= majority) {
				this.over = true;
				return Decision.GRANTED;
			}
			if (this.tally.possible() < majority) {
				// Less than a majority that has answered is a failure, and no busy lock.
				boolean known = this.order > 0 || this.tally.answered() >= majority || this.tally.pending() == 0;
				this.over = known;
				return known ? Decision.REFUSED : Decision.OPEN;
			}
			if (this.order == 0 && this.tally.answered() >= majority && !this.expiring) {
				this.expiring = true;
				return Decision.EXPIRING;
			}
			return Decision.OPEN;
		}

		private void act(Decision decision) {
			switch (decision) {
				case GRANTED -> grant();
				case REFUSED -> refuse();
				case EXPIRING -> QuorumAttempt.this.quorum.timer().schedule(this::expire, PATIENCE_NANOS);
				case OPEN -> {
					// Further nodes will answer.
				}
			}
		}

		private void grant() {
			QuorumAttempt.this.quorum.partialGrants()
				.add(QuorumAttempt.this.owner, this.calls, QuorumAttempt.this.lease);
			QuorumAttempt.this.call.complete(new AttemptResult.Granted(new LockGrant(QuorumAttempt.this.key,
					QuorumAttempt.this.owner, this.order, this.tally.validity(QuorumAttempt.this.lease))));
		}

		/** Ends the round without the nodes that are late. */
		private void expire() {
			synchronized (this) {
				if (this.over || this.order > 0) {
					return;
				}
				this.over = true;
			}
			refuse();
		}

		private void refuse() {
			if (this.order > 0) {
				leaveToCaller();
				QuorumAttempt.this.call.fail(new LockProviderException(LockError.STORE_FAILED, RedisErrors.PROVIDER,
						"granted a lock that no majority of its nodes kept: nodes were lost, or the lease is too short",
						null));
				return;
			}
			if (this.tally.answered() < QuorumAttempt.this.quorum.majority()) {
				leaveToCaller();
				boolean sent = this.calls.stream().anyMatch((node) -> node.call().mayHaveBeenSent());
				QuorumAttempt.this.call
					.fail(QuorumAttempt.this.quorum.noMajority(this.tally.answered(), this.calls, sent));
				return;
			}
			boolean clear = this.calls.stream().allMatch((node) -> node.call().isDone() && !node.mayTakeEffect());
			QuorumHolder holder = this.tally.holder();
			long rest = QuorumAttempt.this.deadline.remainingNanos();
			if (clear && holder == null && rest > PATIENCE_NANOS * 4) {
				releaseAndRepeat();
			}
			else {
				boolean releasePending = giveUp();
				QuorumAttempt.this.call.complete(QuorumAttempt.this.onBusy.apply(holder, releasePending));
			}
		}

		/**
		 * Ends a round that the caller alone releases, until a majority confirms that.
		 */
		private void leaveToCaller() {
			synchronized (this) {
				this.over = true;
			}
			this.calls.forEach(NodeCall::abandon);
			QuorumAttempt.this.quorum.partialGrants()
				.add(QuorumAttempt.this.owner, this.calls, QuorumAttempt.this.lease);
		}

		private void releaseAndRepeat() {
			List<QuorumNode> granted = this.calls.stream().filter(NodeCall::hasGranted).map(NodeCall::node).toList();
			if (granted.isEmpty()) {
				repeatAfterSplit();
				return;
			}
			List<NodeCall> released = new ArrayList<>();
			int[] open = { granted.size() };
			QuorumAttempt.this.quorum.send(granted, release(), CallKind.RELEASE, QuorumAttempt.this.deadline,
					(node) -> {
						boolean last;
						boolean confirmed;
						synchronized (this) {
							if (node.failure() == null) {
								released.add(node);
							}
							last = --open[0] == 0;
							confirmed = released.size() == granted.size();
						}
						if (last && confirmed) {
							repeatAfterSplit();
						}
						else if (last) {
							giveUp();
							QuorumAttempt.this.call.complete(QuorumAttempt.this.onBusy.apply(null, true));
						}
					});
		}

		/**
		 * Releases in the background what this round was granted, and may yet be. A call
		 * that is abandoned first has its last state: what a node granted is never missed
		 * because its end is handled by another thread just now.
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
				if (node.mayTakeEffect()) {
					QuorumAttempt.this.quorum.pending(node.node())
						.addUnclear(release(), node, QuorumAttempt.this.lease);
					pending = true;
				}
				else if (node.hasGranted()) {
					QuorumAttempt.this.quorum.pending(node.node()).addGranted(release(), QuorumAttempt.this.lease);
					pending = true;
				}
			}
			return pending;
		}

	}

	private enum Decision {

		GRANTED, REFUSED, EXPIRING, OPEN

	}

}
