package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ProcessLabel;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.RedisLockKeys;
import io.distributedlock.redis.script.RedisTimer;
import io.distributedlock.redis.script.Script;
import io.distributedlock.redis.script.ScriptCall;

/**
 * The nodes of a quorum, the scripts that they run, and what waits to be released on
 * them. A majority of any two rounds has a node in common.
 */
final class Quorum {

	private final List<QuorumNode> nodes;

	private final Map<QuorumNode, PendingNodeReleases> pending;

	private final PartialGrants partialGrants = new PartialGrants();

	private final RedisTimer timer;

	private final String process;

	private final byte[] label = RedisLayout.label(ProcessLabel.get());

	/**
	 * Creates a quorum.
	 * @param process the id of this process
	 */
	Quorum(List<QuorumNode> nodes, RedisTimer timer, String process) {
		this.nodes = nodes;
		this.timer = timer;
		this.process = process;
		this.pending = nodes.stream()
			.collect(Collectors.toMap((node) -> node, (node) -> new PendingNodeReleases(node, timer)));
	}

	List<QuorumNode> nodes() {
		return this.nodes;
	}

	RedisTimer timer() {
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
	 * Sends a script to nodes.
	 * @param onEnd receives each call at its end, on the thread that ends it
	 * @return the calls, each of which may have ended
	 */
	List<NodeCall> send(List<QuorumNode> nodes, ScriptCall script, CallKind kind, Deadline deadline,
			Consumer<NodeCall> onEnd) {
		List<NodeCall> calls = nodes.stream().map(NodeCall::new).toList();
		calls.forEach((call) -> {
			call.call().onDone(() -> onEnd.accept(call));
			call.send(script, kind, deadline);
		});
		return calls;
	}

	/** An attempt that enters no wait queue. */
	ScriptCall attempt(RedisLockKeys keys, OwnerId owner, Duration lease, boolean probablyFree) {
		return new ScriptCall(Script.ATTEMPT, new byte[][] { keys.lock(), keys.lastOrder() },
				new byte[][] { RedisLayout.held(owner), ScriptCall.millis(lease), this.label,
						RedisLayout.processArgument(this.process, !probablyFree, "") });
	}

	/** Raises the last order to that of a grant. */
	ScriptCall order(RedisLockKeys keys, OwnerId owner, long order) {
		return new ScriptCall(Script.QUORUM_ORDER, new byte[][] { keys.lock(), keys.lastOrder() },
				new byte[][] { RedisLayout.bytes(owner.text()), RedisLayout.bytes(Long.toString(order)) });
	}

	/** A release, which reserves the lock for no process, since none is queued. */
	ScriptCall release(RedisLockKeys keys, OwnerId owner) {
		return new ScriptCall(Script.RELEASE, new byte[][] { keys.lock() },
				new byte[][] { RedisLayout.held(owner), RedisLayout.processArgument(this.process, false, "") });
	}

	/** A release that keeps the lock for a time. */
	ScriptCall keep(RedisLockKeys keys, OwnerId owner, Duration keepFor) {
		return new ScriptCall(Script.KEEP, new byte[][] { keys.lock() }, new byte[][] { RedisLayout.held(owner),
				RedisLayout.processArgument(this.process, false, ""), ScriptCall.millis(keepFor) });
	}

	/** The releases on a node that no caller waits for. */
	PendingNodeReleases pending(QuorumNode node) {
		return Objects.requireNonNull(this.pending.get(node));
	}

	/** The grants that were not seen on all nodes. */
	PartialGrants partialGrants() {
		return this.partialGrants;
	}

	/**
	 * Returns the failure of a round that less than a majority has answered.
	 * @param answered the number of nodes that have
	 * @param sent whether the round may have had an effect
	 */
	LockProviderException noMajority(int answered, List<NodeCall> calls, boolean sent) {
		Map<QuorumNode, Optional<LockProviderException>> others = new LinkedHashMap<>();
		for (NodeCall call : calls) {
			LockProviderException failure = call.failure();
			if (failure != null || !call.call().isDone()) {
				others.put(call.node(), Optional.ofNullable(failure));
			}
		}
		return noMajority(answered, others, sent);
	}

	/**
	 * Returns the failure of a round that less than a majority has answered.
	 * @param others the failures of the other nodes, none of one that has not answered in
	 * time; each node is named once
	 */
	LockProviderException noMajority(int answered, Map<QuorumNode, Optional<LockProviderException>> others,
			boolean sent) {
		StringBuilder problem = new StringBuilder(
				"has no majority: " + answered + " of " + size() + " nodes answered, " + majority() + " are needed");
		LockError error = LockError.STORE_FAILED;
		LockProviderException cause = null;
		for (Map.Entry<QuorumNode, Optional<LockProviderException>> other : others.entrySet()) {
			String name = other.getKey().name();
			LockProviderException failure = other.getValue().orElse(null);
			String text = (failure != null) ? failure.problem() : "did not answer in time";
			problem.append("; ").append(names(text, name) ? "" : name + " ").append(text);
			if (failure != null) {
				if (cause == null || (failure.isTransient() && !cause.isTransient())
						|| failure.error() == LockError.STORE_TIMEOUT) {
					error = failure.error();
					cause = failure;
				}
			}
			else {
				error = LockError.STORE_TIMEOUT;
			}
		}
		return sent ? new LockProviderException(error, RedisErrors.PROVIDER, problem.toString(), cause)
				: LockProviderException.nothingSent(error, RedisErrors.PROVIDER, problem.toString(), cause);
	}

	private static boolean names(String text, String node) {
		return Pattern.compile("(?<!\\S)" + Pattern.quote(node) + "(?!\\w)").matcher(text).find();
	}

	/**
	 * Returns the mistake in the configuration because of which a node is refused, or
	 * {@code null}.
	 */
	static @Nullable LockConfigurationException refusal(NodeCall call) {
		LockProviderException failure = call.failure();
		return (failure != null && failure.getCause() instanceof LockConfigurationException refused) ? refused : null;
	}

}
