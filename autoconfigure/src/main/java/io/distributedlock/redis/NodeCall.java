package io.distributedlock.redis;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;

/**
 * One run of a script on one node of a quorum.
 */
final class NodeCall extends ScriptOperation<ScriptReply> {

	private final QuorumNode node;

	private final long connectionsBefore;

	NodeCall(QuorumNode node) {
		this.node = node;
		this.connectionsBefore = node.connections();
	}

	QuorumNode node() {
		return this.node;
	}

	/**
	 * The number of the node's connections before the script was sent.
	 */
	long connectionsBefore() {
		return this.connectionsBefore;
	}

	void send(ScriptCall script, CallKind kind, Deadline deadline) {
		this.node.run(script, kind, deadline, this);
	}

	@Override
	void onReply(ScriptReply reply) {
		call().complete(reply);
	}

	@Override
	void onFailure(LockProviderException failure) {
		call().fail(failure);
	}

}
