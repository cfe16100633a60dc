package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

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

/**
 * Renewal of leases. It reads whether the lock nodes still exist, many with one request,
 * and moves the ends of the leases, which only this process knows. It does not prolong
 * the session: a read proves nothing about that.
 */
final class RenewalOperation {

	private static final int BATCH_SIZE = 250;

	private final LockNodeRegistry lockNodes;

	private final UndecidedCommands undecided;

	private final LockTimer timer;

	RenewalOperation(LockNodeRegistry lockNodes, UndecidedCommands undecided, LockTimer timer) {
		this.lockNodes = lockNodes;
		this.undecided = undecided;
		this.timer = timer;
	}

	/**
	 * Renews several grants.
	 * @return the call; it fails if no outcome of any grant is known
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
		RenewalCall call = new RenewalCall(expired, timeout);
		renewals.forEach(call::send);
		return call.begin();
	}

	private RenewalOutcome outcome(Renewal renewal, OpResult result) {
		if (result instanceof OpResult.GetDataResult read) {
			boolean exists = renewal.node().isSameAs(new ZNode(read.getData(), read.getStat()));
			return (exists && renewal.node().renew(renewal.lease())) ? RenewalOutcome.RENEWED
					: notHeld(renewal.node());
		}
		boolean missing = result instanceof OpResult.ErrorResult error && error.getErr() == Code.NONODE.intValue();
		return missing ? notHeld(renewal.node()) : RenewalOutcome.UNKNOWN;
	}

	private RenewalOutcome notHeld(LockNode node) {
		this.lockNodes.remove(node);
		return RenewalOutcome.NOT_HELD;
	}

	/** Completes when no command of any of the grants is undecided; does not fail. */
	private CompletableFuture<Boolean> decided(List<LockGrant> grants) {
		List<CompletableFuture<ReleaseOutcome>> ends = new ArrayList<>();
		for (LockGrant grant : grants) {
			CompletableFuture<ReleaseOutcome> end = this.undecided.find(grant.key(), grant.owner());
			if (end != null) {
				ends.add(end);
			}
		}
		return allOf(ends);
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

	/** One call, which waits for all its batches. */
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
				List<Op> reads = batch.stream()
					.map((renewal) -> Op.getData(renewal.node().path().lockNode()))
					.toList();
				this.batches.add(new Batch(batch, session.operations().multi(reads)));
			}
		}

		private StoreCall<Map<LockGrant, RenewalOutcome>> begin() {
			this.call.onAbandon(this.deadline);
			this.deadline.await(allOf(this.batches.stream().map(Batch::answer).toList()))
				.thenCompose((answered) -> outcomes())
				.whenComplete((outcomes, failure) -> {
					if (failure != null) {
						this.call.fail(ZooKeeperErrors.failureOf(failure));
					}
					else {
						this.call.complete(outcomes);
					}
				});
			return this.call;
		}

		private CompletableFuture<Map<LockGrant, RenewalOutcome>> outcomes() {
			Map<LockGrant, RenewalOutcome> outcomes = new HashMap<>();
			Throwable failure = null;
			for (Batch batch : this.batches) {
				Throwable failed = addOutcomes(batch, outcomes);
				failure = (failed != null) ? failed : failure;
			}
			if (failure != null && outcomes.isEmpty() && this.expired.isEmpty()) {
				return CompletableFuture.failedFuture(failure);
			}
			return this.expired.isEmpty() ? CompletableFuture.completedFuture(outcomes) : addExpired(outcomes);
		}

		/** Adds the outcomes of a batch, or returns why they are not known. */
		private @Nullable Throwable addOutcomes(Batch batch, Map<LockGrant, RenewalOutcome> outcomes) {
			return batch.answer().handle((results, failure) -> {
				for (int i = 0; failure == null && i < results.size(); i++) {
					Renewal renewal = batch.renewals().get(i);
					outcomes.put(renewal.grant(), outcome(renewal, results.get(i)));
				}
				return failure;
			}).getNow(null);
		}

		/** Waits until the store has lost the grants too before their end is told. */
		private CompletableFuture<Map<LockGrant, RenewalOutcome>> addExpired(Map<LockGrant, RenewalOutcome> outcomes) {
			RenewalOperation.this.lockNodes.expireLeases();
			return this.deadline.await(decided(this.expired)).thenApply((decided) -> {
				for (LockGrant grant : this.expired) {
					RenewalOperation.this.undecided.pollOutcome(grant.owner());
					outcomes.put(grant, RenewalOutcome.NOT_HELD);
				}
				return outcomes;
			});
		}

	}

}
