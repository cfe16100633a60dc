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

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.RenewalOutcome;

/**
 * Renews leases: looks whether the doors still stand, many with one request, and moves
 * the ends of their leases, which are known here alone. How long the session lasts is not
 * renewed by that: reads prove nothing of it.
 */
final class DoorRenewals {

	private static final int BATCH = 250;

	private final Doors doors;

	private final Leftovers leftovers;

	DoorRenewals(Doors doors, Leftovers leftovers) {
		this.doors = doors;
		this.leftovers = leftovers;
	}

	/** Renews each; throws only if nothing is known of any. */
	Map<LockGrant, RenewalOutcome> renew(Map<LockGrant, Duration> leases, long deadline) {
		Map<LockGrant, RenewalOutcome> outcomes = new HashMap<>(leases.size() * 2);
		List<LockGrant> ended = new ArrayList<>();
		Map<Session, List<Due>> standing = new HashMap<>();
		leases.forEach((grant, lease) -> {
			Door door = this.doors.find(grant.key(), grant.owner());
			if (door == null || door.left(System.nanoTime()) <= 0) {
				ended.add(grant);
			}
			else {
				standing.computeIfAbsent(door.session(), (session) -> new ArrayList<>())
					.add(new Due(grant, door, lease));
			}
		});
		List<Running> running = new ArrayList<>();
		standing.forEach((session, due) -> {
			for (int from = 0; from < due.size(); from += BATCH) {
				running.add(new Running(session, due.subList(from, Math.min(from + BATCH, due.size())), deadline));
			}
		});
		LockProviderException failure = null;
		for (Running batch : running) {
			try {
				batch.read(outcomes);
			}
			catch (LockProviderException ex) {
				failure = ex;
			}
		}
		if (failure != null && outcomes.isEmpty() && ended.isEmpty()) {
			throw failure;
		}
		for (LockGrant grant : ended) {
			lapse(grant, deadline);
			outcomes.put(grant, RenewalOutcome.NOT_HELD);
		}
		return outcomes;
	}

	/** What is over here is to be gone in the store too when that is told. */
	private void lapse(LockGrant grant, long deadline) {
		this.doors.look();
		this.leftovers.await(grant.key(), grant.owner(), deadline);
	}

	/** A lease to be renewed. */
	private record Due(LockGrant grant, Door door, Duration lease) {
	}

	/** A request under way. */
	private final class Running {

		private final Await await;

		private final List<Due> due;

		private final CompletableFuture<List<OpResult>> answer;

		private Running(Session session, List<Due> due, long deadline) {
			this.await = Await.urgent(session, deadline);
			this.due = due;
			this.answer = session.calls()
				.multi(due.stream().map((each) -> Op.getData(each.door().path().door())).toList());
		}

		private void read(Map<LockGrant, RenewalOutcome> outcomes) {
			List<OpResult> results = this.await.result(this.answer);
			for (int i = 0; i < this.due.size(); i++) {
				Due each = this.due.get(i);
				outcomes.put(each.grant(), outcome(each, results.get(i)));
			}
		}

		private RenewalOutcome outcome(Due due, OpResult result) {
			if (result instanceof OpResult.GetDataResult found) {
				boolean stands = due.door().is(new Node(found.getData(), found.getStat()));
				return (stands && due.door().extend(due.lease())) ? RenewalOutcome.RENEWED : gone(due.door());
			}
			boolean missing = result instanceof OpResult.ErrorResult error && error.getErr() == Code.NONODE.intValue();
			return missing ? gone(due.door()) : RenewalOutcome.UNKNOWN;
		}

		private RenewalOutcome gone(Door door) {
			DoorRenewals.this.doors.claim(door);
			return RenewalOutcome.NOT_HELD;
		}

	}

}
