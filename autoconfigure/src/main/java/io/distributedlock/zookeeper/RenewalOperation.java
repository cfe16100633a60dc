package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

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
 * Renewal of leases. It reads whether the lock nodes still exist, many with one request,
 * and moves the ends of the leases, which only this process knows. It does not prolong
 * the session: a read proves nothing about that.
 */
final class RenewalOperation {

	private static final Log logger = LogFactory.getLog(RenewalOperation.class);

	private static final int BATCH_SIZE = 250;

	private final LockNodeRegistry lockNodes;

	private final UnacknowledgedCommands undecided;

	private final LockTimer timer;

	RenewalOperation(LockNodeRegistry lockNodes, UnacknowledgedCommands undecided, LockTimer timer) {
		this.lockNodes = lockNodes;
		this.undecided = undecided;
		this.timer = timer;
	}

	/**
	 * Renews several grants.
	 * @return the call, with the outcomes that are known at its end: a grant is missing
	 * whose lock node was not read in time, or is being released; it fails if no outcome
	 * is known
	 */
	StoreCall<Map<LockGrant, RenewalOutcome>> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		List<LockGrant> expired = new ArrayList<>();
		Map<Session, List<Renewal>> renewals = new HashMap<>();
		leases.forEach((grant, lease) -> {
			LockNode node = this.lockNodes.find(grant.key(), grant.owner());
			if (node == null || node.remainingNanos() <= 0) {
				expired.add(grant);
			}
			else {
				renewals.computeIfAbsent(node.session(), (session) -> new ArrayList<>())
					.add(new Renewal(grant, node, lease));
			}
		});
		if (!expired.isEmpty()) {
			// Sent first, so that the releases are mostly answered before the reads.
			this.lockNodes.expireLeases();
		}
		RenewalCall call = new RenewalCall(expired, timeout);
		renewals.forEach(call::send);
		return call.begin();
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

	/** Completes when all futures are done, also if some have failed. */
	private static CompletableFuture<Boolean> allOf(List<? extends CompletableFuture<?>> futures) {
		return CompletableFuture.allOf(futures.toArray(CompletableFuture<?>[]::new)).handle((none, failure) -> true);
	}

	/** One grant with the lease it is to have. */
	private record Renewal(LockGrant grant, LockNode node, Duration lease) {

	}

	/** Renewals of one session that share one request. */
	private record Batch(List<Renewal> renewals, CompletableFuture<List<OpResult>> answer) {

	}

	/**
	 * One call, which waits for all its batches. It does not wait for the release of an
	 * expired lease, unless nothing else is to be renewed.
	 */
	private final class RenewalCall {

		private final CompletableStoreCall<Map<LockGrant, RenewalOutcome>> call = new CompletableStoreCall<>();

		private final CallDeadline deadline;

		private final List<LockGrant> expired;

		private final List<Batch> batches = new ArrayList<>();

		private RenewalCall(List<LockGrant> expired, Duration timeout) {
			this.expired = expired;
			this.deadline = CallDeadline.ofRenewal(this.call, timeout, RenewalOperation.this.timer);
		}

		private void send(Session session, List<Renewal> due) {
			this.deadline.begin(session);
			for (int from = 0; from < due.size(); from += BATCH_SIZE) {
				List<Renewal> batch = due.subList(from, Math.min(from + BATCH_SIZE, due.size()));
				List<Op> reads = batch.stream().map((renewal) -> Op.getData(renewal.node().path().lockNode())).toList();
				this.batches.add(new Batch(batch, session.operations().multi(reads)));
			}
		}

		private StoreCall<Map<LockGrant, RenewalOutcome>> begin() {
			this.call.onAbandon(this.deadline);
			CompletableFuture<Boolean> answered = this.batches.isEmpty() ? allOf(releases())
					: allOf(this.batches.stream().map(Batch::answer).toList());
			boolean several = this.batches.size() + this.expired.size() > 1;
			CompletableFuture<Boolean> inTime = several ? this.deadline.awaitInTime(answered)
					: this.deadline.await(answered);
			inTime.thenAccept(this::end).whenComplete((ended, failure) -> {
				if (failure != null) {
					this.call.fail(ZooKeeperErrors.failureOf(failure));
				}
			});
			return this.call;
		}

		/** Returns what completes when the releases of expired leases are decided. */
		private List<CompletableFuture<ReleaseOutcome>> releases() {
			List<CompletableFuture<ReleaseOutcome>> releases = new ArrayList<>();
			for (LockGrant grant : this.expired) {
				CompletableFuture<ReleaseOutcome> release = findRelease(grant);
				if (release != null) {
					releases.add(release);
				}
			}
			return releases;
		}

		private @Nullable CompletableFuture<ReleaseOutcome> findRelease(LockGrant grant) {
			return RenewalOperation.this.undecided.find(grant.key(), grant.owner());
		}

		/** Ends the call with what is known; if that is nothing, it is soon abandoned. */
		private void end(boolean inTime) {
			Map<LockGrant, RenewalOutcome> outcomes = new HashMap<>();
			Throwable failure = null;
			for (Batch batch : this.batches) {
				Throwable failed = addOutcomes(batch, outcomes);
				failure = (failed != null) ? failed : failure;
			}
			// The end of a lease is told once the store has lost the lock too.
			List<LockGrant> released = this.expired.stream().filter((grant) -> findRelease(grant) == null).toList();
			released.forEach((grant) -> outcomes.put(grant, RenewalOutcome.NOT_HELD));
			if (outcomes.isEmpty() && failure != null) {
				this.call.fail(ZooKeeperErrors.failureOf(failure));
			}
			else if ((inTime || !outcomes.isEmpty()) && this.call.complete(outcomes)) {
				released.forEach((grant) -> RenewalOperation.this.undecided.pollOutcome(grant.owner()));
			}
		}

		/** Adds the outcomes of an answered batch, or returns why they are not known. */
		private @Nullable Throwable addOutcomes(Batch batch, Map<LockGrant, RenewalOutcome> outcomes) {
			if (!batch.answer().isDone()) {
				return null;
			}
			Throwable failed = batch.answer().handle((results, failure) -> {
				for (int i = 0; failure == null && i < results.size(); i++) {
					Renewal renewal = batch.renewals().get(i);
					outcomes.put(renewal.grant(), outcome(renewal, results.get(i)));
				}
				return failure;
			}).getNow(null);
			if (failed != null) {
				logger.debug("The lock nodes of " + batch.renewals().size() + " lock(s) could not be read", failed);
			}
			return failed;
		}

	}

}
