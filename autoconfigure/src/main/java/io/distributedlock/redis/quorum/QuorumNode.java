package io.distributedlock.redis.quorum;

import io.distributedlock.redis.script.ScriptExecutor;

/**
 * One of the independent servers of a quorum. It runs a script on a connection that was
 * admitted: of a server that has run for long enough, and knows the last orders. A script
 * for another server ends at once as not sent.
 */
interface QuorumNode extends ScriptExecutor {

	/** The address of the server, for people. */
	String name();

	/** The state of the server as this process sees it, for people. */
	String state();

	/**
	 * The number of connections that were begun. If it is the same before a command and
	 * after the reply to a later one, the server has run both in this order.
	 */
	long connections();

}
