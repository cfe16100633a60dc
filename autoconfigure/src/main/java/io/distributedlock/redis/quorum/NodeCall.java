package io.distributedlock.redis.quorum;

import java.util.Collection;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.script.ReplyHandler;
import io.distributedlock.redis.script.Script;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptReply;

/**
 * One run of a script on one node of a quorum.
 */
final class NodeCall extends ReplyHandler<ScriptReply> {

	private final QuorumNode node;

	private static final long NO_CONNECTION = -1;

	private volatile long connectionsBefore;

	NodeCall(QuorumNode node) {
		this.node = node;
		this.connectionsBefore = node.connections();
		call().recordSent(false);
	}

	/** Creates a call to each of the nodes. */
	static List<NodeCall> of(Collection<QuorumNode> nodes) {
		return nodes.stream().map(NodeCall::new).toList();
	}

	/** Returns the replies that have come. */
	static List<ScriptReply> replies(List<NodeCall> calls) {
		return calls.stream().map(NodeCall::reply).filter(Objects::nonNull).toList();
	}

	/** Whether no further reply will come. */
	static boolean areDone(List<NodeCall> calls) {
		return calls.stream().allMatch((call) -> call.call().isDone());
	}

	QuorumNode node() {
		return this.node;
	}

	/**
	 * The number of the node's connections before the script was sent, or a negative one
	 * if what is sent now may overtake it.
	 */
	long connectionsBefore() {
		return this.connectionsBefore;
	}

	void send(ScriptCall script, CallKind kind, Deadline deadline) {
		this.node.run(script, kind, deadline, this);
	}

	/**
	 * Gives up a call that is under way. Its script is not sent after that, except by a
	 * thread that is about to do so just now.
	 */
	void abandon() {
		call().abandon();
		if (isBeingSent()) {
			this.connectionsBefore = NO_CONNECTION;
		}
	}

	/** Whether the node may run the script later, or has run it without a reply. */
	boolean mayTakeEffect() {
		return (!call().isDone() || failure() != null) && call().mayHaveBeenSent();
	}

	/** Returns the reply, or {@code null} if there is none yet, or the call failed. */
	@Nullable ScriptReply reply() {
		return (call().isDone() && failure() == null) ? call().result() : null;
	}

	/** Returns the failure, or {@code null} if there is none yet. */
	@Nullable LockProviderException failure() {
		if (call().isDone()) {
			try {
				call().result();
			}
			catch (LockProviderException ex) {
				return ex;
			}
		}
		return null;
	}

	/** Whether this was an attempt, and the node has granted the lock. */
	boolean hasGranted() {
		ScriptReply reply = reply();
		return reply != null && reply.number(0) != Script.NOT_GRANTED;
	}

	/** Whether the node has replied that the owner held the lock. */
	boolean hasFoundOwner() {
		ScriptReply reply = reply();
		return reply != null && reply.number(0) == 1;
	}

	@Override
	public void onReply(ScriptReply reply) {
		call().complete(reply);
	}

	@Override
	public void onFailure(LockProviderException failure) {
		call().fail(failure);
	}

}
