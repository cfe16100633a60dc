package io.distributedlock.redis;

import java.util.concurrent.TimeoutException;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;

/**
 * Runs scripts on the server through one of the Redis clients, each within its deadline.
 */
interface ScriptClient extends AutoCloseable {

	/**
	 * Starts a script.
	 * @param call the script with its keys and arguments
	 * @param kind the purpose of the call
	 * @param deadline the end of the call
	 * @return the reply, to be awaited
	 */
	PendingResult<ScriptReply> start(ScriptCall call, CallKind kind, Deadline deadline)
			throws InterruptedException, TimeoutException;

	/**
	 * Counts the connections that have broken so far. If the number changes during a
	 * call, the client may have sent the command again.
	 */
	long disconnects();

	@Override
	void close();

}
