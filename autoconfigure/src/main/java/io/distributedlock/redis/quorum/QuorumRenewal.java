package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.redis.RedisRenewal;
import io.distributedlock.redis.script.RedisErrors;

/**
 * One renewal of many grants on all nodes of a quorum: one script per node, all under way
 * together. A grant is renewed if a majority has renewed it, and not held if no majority
 * can hold it. It ends when that is known of all grants, or shortly before its time-out
 * with what is known by then.
 */
final class QuorumRenewal {

	private static final Log logger = LogFactory.getLog(QuorumRenewal.class);

	/** How long before its time-out it ends. */
	private static final long END_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

	private final Quorum quorum;

	private final Map<LockGrant, Tally> tallies = new HashMap<>();

	private final CompletableStoreCall<Map<LockGrant, RenewalOutcome>> call = new CompletableStoreCall<>();

	/** The grants of which it is not known yet; guarded by the monitor. */
	private int undecided;

	/** The nodes whose call has ended; guarded by the monitor. */
	private int ended;

	/**
	 * The failures of nodes, none of those that have not answered yet; guarded by the
	 * monitor. A node that has answered is not in it.
	 */
	private final Map<QuorumNode, Optional<LockProviderException>> failures = new LinkedHashMap<>();

	private volatile @Nullable Future<?> expiry;

	QuorumRenewal(Quorum quorum, Map<LockGrant, Duration> leases) {
		this.quorum = quorum;
		leases.keySet().forEach((grant) -> this.tallies.put(grant, new Tally()));
		quorum.nodes().forEach((node) -> this.failures.put(node, Optional.empty()));
		this.undecided = this.tallies.size();
	}

	/**
	 * Renews.
	 * @param renewals the renewal of each node
	 */
	StoreCall<Map<LockGrant, RenewalOutcome>> send(List<RedisRenewal> renewals, Map<LockGrant, Duration> leases,
			Duration timeout) {
		List<StoreCall<Map<LockGrant, RenewalOutcome>>> calls = renewals.stream()
			.map((renewal) -> renewal.renew(leases, timeout))
			.toList();
		this.call.onAbandon(() -> {
			cancelExpiry();
			calls.forEach(StoreCall::abandon);
		});
		this.expiry = this.quorum.timer().schedule(() -> {
			end();
			calls.forEach(StoreCall::abandon);
		}, timeout.toNanos() - Math.min(timeout.toNanos() / 5, END_NANOS));
		for (int index = 0; index < calls.size(); index++) {
			StoreCall<Map<LockGrant, RenewalOutcome>> one = calls.get(index);
			QuorumNode node = this.quorum.nodes().get(index);
			one.onDone(() -> ended(node, one));
		}
		return this.call;
	}

	private void ended(QuorumNode node, StoreCall<Map<LockGrant, RenewalOutcome>> renewal) {
		boolean over;
		synchronized (this) {
			this.ended++;
			try {
				renewal.result().forEach(this::count);
				this.failures.remove(node);
			}
			catch (RuntimeException ex) {
				this.failures.put(node,
						Optional.of((ex instanceof LockProviderException known) ? known : new LockProviderException(
								LockError.STORE_FAILED, RedisErrors.PROVIDER, "failed to renew locks", ex)));
			}
			over = this.undecided == 0 || this.ended == this.quorum.size();
		}
		if (over) {
			end();
		}
	}

	private void count(LockGrant grant, RenewalOutcome outcome) {
		Tally tally = this.tallies.get(grant);
		if (tally == null) {
			return;
		}
		boolean before = tally.isDecided(this.quorum);
		tally.renewed += (outcome == RenewalOutcome.RENEWED) ? 1 : 0;
		tally.notHeld += (outcome == RenewalOutcome.NOT_HELD) ? 1 : 0;
		if (!before && tally.isDecided(this.quorum)) {
			this.undecided--;
		}
	}

	private void end() {
		cancelExpiry();
		Map<LockGrant, RenewalOutcome> outcomes = new HashMap<>();
		LockProviderException failure;
		int missing;
		synchronized (this) {
			this.tallies.forEach((grant, tally) -> outcomes.put(grant, tally.outcome(this.quorum)));
			missing = this.undecided;
			failure = (missing > 0 && this.failures.values().stream().anyMatch(Optional::isPresent))
					? this.quorum.noMajority(this.quorum.size() - this.failures.size(), this.failures, true) : null;
		}
		if (failure != null && missing == outcomes.size()) {
			this.call.fail(failure);
			return;
		}
		if (missing > 0) {
			logger.debug(missing + " of " + outcomes.size() + " locks were renewed by no majority yet", failure);
		}
		this.call.complete(outcomes);
	}

	private void cancelExpiry() {
		Future<?> pending = this.expiry;
		if (pending != null) {
			pending.cancel(false);
		}
	}

	/** What the nodes have answered for one grant; guarded by the renewal's monitor. */
	private static final class Tally {

		private int renewed;

		private int notHeld;

		private boolean isDecided(Quorum quorum) {
			return outcome(quorum) != RenewalOutcome.UNKNOWN;
		}

		private RenewalOutcome outcome(Quorum quorum) {
			return (this.renewed >= quorum.majority()) ? RenewalOutcome.RENEWED
					: quorum.excludesMajority(this.notHeld) ? RenewalOutcome.NOT_HELD : RenewalOutcome.UNKNOWN;
		}

	}

}
