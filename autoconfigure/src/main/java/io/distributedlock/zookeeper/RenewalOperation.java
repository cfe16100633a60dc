package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.zookeeper.node.LockNode;
import io.distributedlock.zookeeper.node.LockNodeRegistry;
import io.distributedlock.zookeeper.node.UnacknowledgedCommands;
import io.distributedlock.zookeeper.session.CallDeadline;
import io.distributedlock.zookeeper.session.Session;
import io.distributedlock.zookeeper.session.ZNode;
import io.distributedlock.zookeeper.session.ZooKeeperErrors;

/**
 * One renewal of leases. It reads whether the lock nodes still exist, many with one
 * request, and moves the ends of the leases, which only this process knows. It does not
 * prolong the session: a read proves nothing about that.
 * <p>
 * It does not wait for the release of an expired lease, unless nothing else is to be
 * renewed.
 */
final class RenewalOperation {

	private static final Log logger = LogFactory.getLog(RenewalOperation.class);

	private static final int BATCH_SIZE = 250;

	private final LockNodeRegistry lockNodes;

	private final UnacknowledgedCommands undecided;

	private final CompletableStoreCall<Map<LockGrant, RenewalOutcome>> call = new CompletableStoreCall<>();

	private final CallDeadline deadline;

	private final List<LockGrant> expired = new ArrayList<>();

	/** The answers to the batches, each of which completes after its outcomes are set. */
	private final List<CompletableFuture<?>> answers = new ArrayList<>();

	/** The outcomes so far; answers may come on several event threads. */
	private final Map<LockGrant, RenewalOutcome> outcomes = new ConcurrentHashMap<>();

	private volatile @Nullable Throwable failure;

	RenewalOperation(LockNodeRegistry lockNodes, UnacknowledgedCommands undecided, LockTimer timer, Duration timeout) {
		this.lockNodes = lockNodes;
		this.undecided = undecided;
		this.deadline = CallDeadline.ofRenewal(this.call, timeout, timer);
	}

	/**
	 * Renews several grants.
	 * @return the call, with the outcomes that are known at its end: a grant is missing
	 * whose lock node was not read in time, or is being released; it fails if no outcome
	 * is known
	 */
	StoreCall<Map<LockGrant, RenewalOutcome>> renew(Map<LockGrant, Duration> leases) {
		Map<Session, List<Renewal>> renewals = new HashMap<>();
		leases.forEach((grant, lease) -> {
			LockNode node = this.lockNodes.find(grant.key(), grant.owner());
			if (node == null || node.remainingNanos() <= 0) {
				this.expired.add(grant);
			}
			else {
				renewals.computeIfAbsent(node.session(), (session) -> new ArrayList<>())
					.add(new Renewal(grant, node, lease));
			}
		});
		if (!this.expired.isEmpty()) {
			// Sent first, so that the releases are mostly answered before the reads.
			this.lockNodes.expireLeases();
		}
		renewals.forEach(this::send);
		CompletableFuture<Boolean> answered = CompletableFuture
			.allOf((this.answers.isEmpty() ? releases() : this.answers).toArray(CompletableFuture<?>[]::new))
			.thenApply((none) -> true);
		boolean several = this.answers.size() + this.expired.size() > 1;
		(several ? this.deadline.awaitInTime(answered) : this.deadline.await(answered)).thenAccept(this::end)
			.whenComplete((ended, failed) -> {
				if (failed != null) {
					this.call.fail(ZooKeeperErrors.failureOf(failed));
				}
			});
		return this.call;
	}

	private void send(Session session, List<Renewal> due) {
		this.deadline.begin(session);
		for (int from = 0; from < due.size(); from += BATCH_SIZE) {
			List<Renewal> batch = due.subList(from, Math.min(from + BATCH_SIZE, due.size()));
			List<Op> reads = batch.stream().map((renewal) -> Op.getData(renewal.node().path().lockNode())).toList();
			this.answers.add(session.operations().multi(reads).handle((results, failed) -> {
				answered(batch, results, failed);
				return true;
			}));
		}
	}

	/**
	 * Renews the leases of a batch, unless its answer comes after the end of the call.
	 */
	private void answered(List<Renewal> batch, @Nullable List<OpResult> results, @Nullable Throwable failed) {
		if (results == null) {
			logger.debug("The lock nodes of " + batch.size() + " lock(s) could not be read", failed);
			this.failure = failed;
			return;
		}
		for (int i = 0; i < results.size() && !this.call.isDone() && !this.call.isAbandoned(); i++) {
			this.outcomes.put(batch.get(i).grant(), outcome(batch.get(i), results.get(i)));
		}
	}

	private RenewalOutcome outcome(Renewal renewal, OpResult result) {
		if (result instanceof OpResult.GetDataResult read) {
			boolean exists = renewal.node().isSameAs(new ZNode(read.getData(), read.getStat()));
			return (exists && renewal.node().renew(renewal.lease())) ? RenewalOutcome.RENEWED : notHeld(renewal.node());
		}
		Code code = (result instanceof OpResult.ErrorResult error) ? Code.get(error.getErr()) : null;
		if (code == Code.NONODE) {
			return notHeld(renewal.node());
		}
		logger.debug("The lock node of '" + renewal.grant().key() + "' could not be read: " + code);
		return RenewalOutcome.UNKNOWN;
	}

	private RenewalOutcome notHeld(LockNode node) {
		if (this.lockNodes.beginRelease(node)) {
			this.lockNodes.remove(node);
		}
		return RenewalOutcome.NOT_HELD;
	}

	/** Returns futures that complete when releases of expired leases are decided. */
	private List<CompletableFuture<?>> releases() {
		List<CompletableFuture<?>> releases = new ArrayList<>();
		for (LockGrant grant : this.expired) {
			CompletableFuture<ReleaseOutcome> release = this.undecided.find(grant.key(), grant.owner());
			if (release != null) {
				releases.add(release);
			}
		}
		return releases;
	}

	/** Ends the call with what is known; if that is nothing, it is soon abandoned. */
	private void end(boolean inTime) {
		Map<LockGrant, RenewalOutcome> known = new HashMap<>(this.outcomes);
		for (LockGrant grant : this.expired) {
			// The end of a lease is reported once the store has lost the lock too.
			if (this.undecided.find(grant.key(), grant.owner()) == null) {
				known.put(grant, RenewalOutcome.NOT_HELD);
			}
		}
		Throwable failed = this.failure;
		if (known.isEmpty() && failed != null) {
			this.call.fail(ZooKeeperErrors.failureOf(failed));
		}
		else if ((inTime || !known.isEmpty()) && this.call.complete(known)) {
			this.expired.forEach((grant) -> this.undecided.pollOutcome(grant.owner()));
		}
	}

	/** One grant with the lease it is to have. */
	private record Renewal(LockGrant grant, LockNode node, Duration lease) {

	}

}
