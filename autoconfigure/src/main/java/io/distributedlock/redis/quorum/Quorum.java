package io.distributedlock.redis.quorum;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ProcessLabel;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.RedisLockKeys;
import io.distributedlock.redis.script.Script;
import io.distributedlock.redis.script.ScriptCall;

/**
 * The nodes of a quorum, the scripts that they run, and what waits to be released on
 * them. A majority of any two rounds has a node in common.
 */
final class Quorum {

	private static final Log logger = LogFactory.getLog(Quorum.class);

	private final List<QuorumNode> nodes;

	private final Map<QuorumNode, PendingNodeReleases> pending;

	/**
	 * The grants that were not seen on all nodes when they counted, each with the
	 * attempts on the other nodes, oldest first. Its release needs them: a node that may
	 * run the attempt later has to be asked again, and one that never received it has
	 * nothing to release. The attempts go on until then: a node that is a little late
	 * keeps the lock too.
	 */
	private final Map<OwnerId, PartialGrant> partialGrants = Collections.synchronizedMap(new LinkedHashMap<>());

	/** The nodes that have refused a part of their last renewal. */
	private final Set<QuorumNode> refusingRenewals = ConcurrentHashMap.newKeySet();

	private final LockTimer timer;

	private final String process;

	private final byte[] label = RedisLayout.label(ProcessLabel.get());

	/**
	 * Creates a quorum.
	 * @param process the id of this process
	 */
	Quorum(List<QuorumNode> nodes, LockTimer timer, String process) {
		this.nodes = nodes;
		this.timer = timer;
		this.process = process;
		this.pending = nodes.stream()
			.collect(Collectors.toMap((node) -> node, (node) -> new PendingNodeReleases(node, timer)));
	}

	List<QuorumNode> nodes() {
		return this.nodes;
	}

	LockTimer timer() {
		return this.timer;
	}

	int size() {
		return this.nodes.size();
	}

	int majority() {
		return NodeJoin.majority(this.nodes.size());
	}

	/** Whether no majority can be among the other nodes. */
	boolean excludesMajority(int nodes) {
		return nodes > this.nodes.size() - majority();
	}

	/**
	 * Sends a script.
	 * @param calls the calls, none of which was sent yet
	 * @param onEnd receives each call at its end, on the thread that ends it
	 */
	void send(List<NodeCall> calls, ScriptCall script, CallKind kind, Deadline deadline, Consumer<NodeCall> onEnd) {
		calls.forEach((call) -> {
			call.call().onDone(() -> onEnd.accept(call));
			call.send(script, kind, deadline);
		});
	}

	/** An attempt that enters no wait queue. */
	ScriptCall attempt(QuorumRequest request) {
		byte[][] keys = { request.keys().lock(), request.keys().lastOrder() };
		byte[] owner = RedisLayout.held(request.owner());
		byte[] lease = ScriptCall.millis(request.lease());
		byte[] entry = RedisLayout.processArgument(this.process, request.probablyBusy(), "");
		return request.owner().isShare()
				? new ScriptCall(Script.ATTEMPT_SHARE, keys,
						new byte[][] { owner, lease, this.label, entry,
								RedisLayout.bytes(Integer.toString(Integer.MAX_VALUE)), new byte[0] })
				: new ScriptCall(Script.ATTEMPT, keys, new byte[][] { owner, lease, this.label, entry });
	}

	/** Raises the last order to that of a grant. */
	ScriptCall order(RedisLockKeys keys, OwnerId owner, long order) {
		return new ScriptCall(Script.QUORUM_ORDER, new byte[][] { keys.lock(), keys.lastOrder() },
				new byte[][] { RedisLayout.bytes(owner.text()), RedisLayout.bytes(Long.toString(order)) });
	}

	/** A release, which reserves the lock for no process, since none is queued. */
	ScriptCall release(RedisLockKeys keys, OwnerId owner) {
		return new ScriptCall(owner.isShare() ? Script.RELEASE_SHARE : Script.RELEASE, new byte[][] { keys.lock() },
				new byte[][] { RedisLayout.held(owner), RedisLayout.processArgument(this.process, false, "") });
	}

	/** A release that keeps the lock for a time. */
	ScriptCall keep(RedisLockKeys keys, OwnerId owner, Duration keepFor) {
		return new ScriptCall(Script.KEEP, new byte[][] { keys.lock() }, new byte[][] { RedisLayout.held(owner),
				RedisLayout.processArgument(this.process, false, ""), ScriptCall.millis(keepFor) });
	}

	/**
	 * Records a reply to a renewal. A row of errors is logged once.
	 * @param error the first error, or nothing
	 */
	void recordRenewal(QuorumNode node, byte[] error) {
		if (error.length == 0) {
			this.refusingRenewals.remove(node);
		}
		else if (this.refusingRenewals.add(node)) {
			logger.warn("Some locks could not be renewed, and are retried within their leases: the node " + node.name()
					+ " of the Redis quorum replied " + new String(error, StandardCharsets.UTF_8).strip());
		}
	}

	/** The releases on a node that no caller waits for. */
	PendingNodeReleases pending(QuorumNode node) {
		return Objects.requireNonNull(this.pending.get(node));
	}

	/** Remembers a grant, unless all attempts were seen to succeed. */
	void addPartialGrant(OwnerId owner, List<NodeCall> attempts, Duration lease) {
		List<NodeCall> others = attempts.stream().filter((attempt) -> !attempt.hasGranted()).toList();
		if (others.isEmpty()) {
			return;
		}
		synchronized (this.partialGrants) {
			Iterator<PartialGrant> oldest = this.partialGrants.values().iterator();
			while (oldest.hasNext()
					&& (oldest.next().end().isPast() || this.partialGrants.size() >= PendingNodeReleases.CAPACITY)) {
				oldest.remove();
			}
			this.partialGrants.put(owner, new PartialGrant(others, PendingNodeReleases.giveUp(lease)));
		}
	}

	/** Returns the attempts of an owner that were not seen to grant the lock. */
	List<NodeCall> partialGrant(OwnerId owner) {
		PartialGrant grant = this.partialGrants.get(owner);
		return (grant != null) ? grant.others() : List.of();
	}

	void removePartialGrant(OwnerId owner) {
		this.partialGrants.remove(owner);
	}

	int partialGrants() {
		return this.partialGrants.size();
	}

	/**
	 * Returns the failure of a round that less than a majority has answered. It names
	 * each of the other nodes once.
	 * @param sent whether the round may have had an effect
	 */
	LockProviderException noMajority(List<NodeCall> calls, boolean sent) {
		StringBuilder problem = new StringBuilder("has no majority: " + NodeCall.replies(calls).size() + " of " + size()
				+ " nodes answered, " + majority() + " are needed");
		LockError error = LockError.STORE_FAILED;
		LockProviderException cause = null;
		for (NodeCall call : calls) {
			if (call.reply() != null) {
				continue;
			}
			LockProviderException failure = call.failure();
			String text = (failure != null) ? failure.problem() : "did not answer in time";
			String name = call.node().name();
			problem.append("; ").append(names(text, name) ? "" : name + " ").append(text);
			if (failure == null) {
				error = LockError.STORE_TIMEOUT;
			}
			else if (cause == null || (failure.isTransient() && !cause.isTransient())
					|| failure.error() == LockError.STORE_TIMEOUT) {
				error = failure.error();
				cause = failure;
			}
		}
		return sent ? new LockProviderException(error, RedisErrors.PROVIDER, problem.toString(), cause)
				: LockProviderException.nothingSent(error, RedisErrors.PROVIDER, problem.toString(), cause);
	}

	private static boolean names(String text, String node) {
		return Pattern.compile("(?<!\\S)" + Pattern.quote(node) + "(?!\\w)").matcher(text).find();
	}

	/** Ends with the release, or when an attempt cannot take effect any more. */
	private record PartialGrant(List<NodeCall> others, Deadline end) {
	}

}
