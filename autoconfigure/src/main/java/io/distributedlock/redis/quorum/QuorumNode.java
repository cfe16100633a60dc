package io.distributedlock.redis.quorum;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.script.ReplyHandler;
import io.distributedlock.redis.script.ScriptCall;

/**
 * One of the independent servers of a quorum.
 */
interface QuorumNode {

	/** The address of the server, for people. */
	String name();

	/** The state of the server as this process sees it, for people. */
	String state();

	/**
	 * The number of connections that were begun. If it is the same before a command and
	 * after the reply to a later one, the server has run both in this order.
	 */
	long connections();

	/**
	 * Runs a script on a connection that was admitted: to a server that has run for long
	 * enough, and knows the last orders. A script for another server ends at once as not
	 * sent. Never throws, and never waits; the caller abandons an operation that is late.
	 * @param deadline when that is
	 * @param operation what follows the reply or the failure
	 */
	void run(ScriptCall call, CallKind kind, Deadline deadline, ReplyHandler<?> operation);

}
