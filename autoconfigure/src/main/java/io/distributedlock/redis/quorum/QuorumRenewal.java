package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptReply;

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

	/** The most grants of one script: the server serves nobody else meanwhile. */
	static final int BATCH_SIZE = 100;

	private final Quorum quorum;

	private final List<LockGrant> grants;

	private final List<NodeCall> calls;

	private final CompletableStoreCall<Map<LockGrant, RenewalOutcome>> call = new CompletableStoreCall<>();

	/** How many nodes have renewed each grant; guarded by the monitor. */
	private final int[] renewed;

	/** How many nodes do not hold each grant; guarded by the monitor. */
	private final int[] notHeld;

	/** The nodes whose call has ended; guarded by the monitor. */
	private int ended;

	private volatile @Nullable Future<?> expiry;

	QuorumRenewal(Quorum quorum, List<LockGrant> grants) {
		this.quorum = quorum;
		this.grants = grants;
		this.calls = NodeCall.of(quorum.nodes());
		this.renewed = new int[grants.size()];
		this.notHeld = new int[grants.size()];
	}

	StoreCall<Map<LockGrant, RenewalOutcome>> send(ScriptCall script, Duration timeout) {
		this.call.onAbandon(this::abandonCalls);
		this.expiry = this.quorum.timer().schedule(() -> {
			end();
			abandonCalls();
		}, timeout.toNanos() - Math.min(timeout.toNanos() / 5, END_NANOS));
		this.quorum.send(this.calls, script, CallKind.RENEWAL, Deadline.after(timeout), this::ended);
		return this.call;
	}

	private void abandonCalls() {
		cancelExpiry();
		this.calls.forEach((node) -> node.call().abandon());
	}

	private void ended(NodeCall node) {
		boolean over;
		synchronized (this) {
			this.ended++;
			ScriptReply reply = node.reply();
			if (reply != null) {
				count(node.node(), reply);
			}
			over = this.ended == this.quorum.size() || !outcomes().containsValue(RenewalOutcome.UNKNOWN);
		}
		if (over) {
			end();
		}
	}

	private void count(QuorumNode node, ScriptReply reply) {
		for (int index = 0; index < this.grants.size(); index++) {
			this.renewed[index] += (reply.number(index) == 1) ? 1 : 0;
			this.notHeld[index] += (reply.number(index) == 0) ? 1 : 0;
		}
		this.quorum.recordRenewal(node, reply.bytes(this.grants.size()));
	}

	private synchronized Map<LockGrant, RenewalOutcome> outcomes() {
		Map<LockGrant, RenewalOutcome> outcomes = new HashMap<>(this.grants.size() * 2);
		for (int index = 0; index < this.grants.size(); index++) {
			outcomes.put(this.grants.get(index),
					(this.renewed[index] >= this.quorum.majority()) ? RenewalOutcome.RENEWED
							: this.quorum.excludesMajority(this.notHeld[index]) ? RenewalOutcome.NOT_HELD
									: RenewalOutcome.UNKNOWN);
		}
		return outcomes;
	}

	private void end() {
		cancelExpiry();
		Map<LockGrant, RenewalOutcome> outcomes = outcomes();
		long unknown = outcomes.values().stream().filter((outcome) -> outcome == RenewalOutcome.UNKNOWN).count();
		LockProviderException failure = null;
		if (unknown > 0 && this.calls.stream().anyMatch((node) -> node.failure() != null)) {
			int answered = (int) this.calls.stream().filter((node) -> node.reply() != null).count();
			failure = this.quorum.noMajority(answered, this.calls, true);
		}
		if (failure != null && unknown == outcomes.size()) {
			this.call.fail(failure);
			return;
		}
		if (unknown > 0) {
			logger.debug(unknown + " of " + outcomes.size() + " locks were renewed by no majority yet", failure);
		}
		this.call.complete(outcomes);
	}

	private void cancelExpiry() {
		Future<?> pending = this.expiry;
		if (pending != null) {
			pending.cancel(false);
		}
	}

}
