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

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.RenewalOutcome;

/**
 * Renewal of leases. It reads whether the lock nodes still exist, many with one request,
 * and moves the ends of the leases, which only this process knows. It does not prolong
 * the session: a read proves nothing about that.
 */
final class RenewalOperation {

	private static final int BATCH_SIZE = 250;

	private final LockNodeRegistry lockNodes;

	private final UndecidedCommands undecided;

	RenewalOperation(LockNodeRegistry lockNodes, UndecidedCommands undecided) {
		this.lockNodes = lockNodes;
		this.undecided = undecided;
	}

	/**
	 * Renews several grants.
	 * @throws LockProviderException if no outcome of any grant is known
	 */
	Map<LockGrant, RenewalOutcome> renew(Map<LockGrant, Duration> leases, Deadline deadline) {
		Map<LockGrant, RenewalOutcome> outcomes = new HashMap<>(leases.size() * 2);
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
		LockProviderException failure = await(send(renewals, deadline), outcomes);
		if (failure != null && outcomes.isEmpty() && expired.isEmpty()) {
			throw failure;
		}
		for (LockGrant grant : expired) {
			expire(grant, deadline);
			outcomes.put(grant, RenewalOutcome.NOT_HELD);
		}
		return outcomes;
	}

	private List<Batch> send(Map<Session, List<Renewal>> renewals, Deadline deadline) {
		List<Batch> batches = new ArrayList<>();
		renewals.forEach((session, due) -> {
			for (int from = 0; from < due.size(); from += BATCH_SIZE) {
				batches.add(new Batch(session, due.subList(from, Math.min(from + BATCH_SIZE, due.size())), deadline));
			}
		});
		return batches;
	}

	private static @Nullable LockProviderException await(List<Batch> batches, Map<LockGrant, RenewalOutcome> outcomes) {
		LockProviderException failure = null;
		for (Batch batch : batches) {
			try {
				batch.await(outcomes);
			}
			catch (LockProviderException ex) {
				failure = ex;
			}
		}
		return failure;
	}

	/** Waits until the store has lost the grant too, before its end is reported. */
	private void expire(LockGrant grant, Deadline deadline) {
		this.lockNodes.expireLeases();
		this.undecided.await(grant.key(), grant.owner(), deadline);
	}

	/** One grant with the lease it is to have. */
	private record Renewal(LockGrant grant, LockNode node, Duration lease) {

	}

	/** Renewals of one session that share one request. */
	private final class Batch {

		private final CallDeadline callDeadline;

		private final List<Renewal> renewals;

		private final CompletableFuture<List<OpResult>> answer;

		private Batch(Session session, List<Renewal> renewals, Deadline deadline) {
			this.callDeadline = CallDeadline.ofRenewal(session, deadline);
			this.renewals = renewals;
			this.answer = session.operations()
				.multi(renewals.stream().map((renewal) -> Op.getData(renewal.node().path().lockNode())).toList());
		}

		private void await(Map<LockGrant, RenewalOutcome> outcomes) {
			List<OpResult> results = this.callDeadline.await(this.answer);
			for (int i = 0; i < this.renewals.size(); i++) {
				Renewal renewal = this.renewals.get(i);
				outcomes.put(renewal.grant(), outcome(renewal, results.get(i)));
			}
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
			RenewalOperation.this.lockNodes.remove(node);
			return RenewalOutcome.NOT_HELD;
		}

	}

}
