package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

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

	QuorumRenewal(Quorum quorum, List<LockGrant> grants) {
		this.quorum = quorum;
		this.grants = grants;
		this.calls = NodeCall.of(quorum.nodes());
	}

	StoreCall<Map<LockGrant, RenewalOutcome>> send(ScriptCall script, Duration timeout) {
		this.call.onAbandon(this::abandonCalls);
		this.quorum.timer().trySchedule(() -> {
			if (!this.call.isDone()) {
				end(outcomes());
			}
			abandonCalls();
		}, timeout.toNanos() - Math.min(timeout.toNanos() / 5, END_NANOS));
		this.quorum.send(this.calls, script, CallKind.RENEWAL, Deadline.after(timeout), this::ended);
		return this.call;
	}

	private void abandonCalls() {
		this.calls.forEach((node) -> node.call().abandon());
	}

	private void ended(NodeCall node) {
		ScriptReply reply = node.reply();
		if (reply != null) {
			this.quorum.recordRenewal(node.node(), reply.bytes(this.grants.size()));
		}
		Map<LockGrant, RenewalOutcome> outcomes = outcomes();
		if (NodeCall.areDone(this.calls) || !outcomes.containsValue(RenewalOutcome.UNKNOWN)) {
			end(outcomes);
		}
	}

	private Map<LockGrant, RenewalOutcome> outcomes() {
		List<ScriptReply> replies = NodeCall.replies(this.calls);
		Map<LockGrant, RenewalOutcome> outcomes = new HashMap<>(this.grants.size() * 2);
		for (int index = 0; index < this.grants.size(); index++) {
			int renewed = 0;
			int notHeld = 0;
			for (ScriptReply reply : replies) {
				renewed += (reply.number(index) == 1) ? 1 : 0;
				notHeld += (reply.number(index) == 0) ? 1 : 0;
			}
			outcomes.put(this.grants.get(index), (renewed >= this.quorum.majority()) ? RenewalOutcome.RENEWED
					: this.quorum.excludesMajority(notHeld) ? RenewalOutcome.NOT_HELD : RenewalOutcome.UNKNOWN);
		}
		return outcomes;
	}

	private void end(Map<LockGrant, RenewalOutcome> outcomes) {
		long unknown = outcomes.values().stream().filter((outcome) -> outcome == RenewalOutcome.UNKNOWN).count();
		LockProviderException failure = null;
		if (unknown > 0 && this.calls.stream().anyMatch((node) -> node.failure() != null)) {
			failure = this.quorum.noMajority(this.calls, true);
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

}
