package io.distributedlock.redis;

import java.util.concurrent.TimeoutException;

import io.distributedlock.provider.CallKind;

/**
 * Runs scripts on the server through one of the Redis clients, each within its deadline.
 */
interface ScriptClient extends AutoCloseable {

	/**
	 * Starts a script.
	 * @param call the script with its keys and arguments
	 * @param kind the purpose of the call
	 * @param deadlineNanos the end of the call, as {@link System#nanoTime()} counts
	 * @return the reply, to be awaited
	 */
	PendingResult<ScriptReply> start(ScriptCall call, CallKind kind, long deadlineNanos)
			throws InterruptedException, TimeoutException;

	/**
	 * Counts the connections that have broken so far. If the number changes during a
	 * call, the client may have sent the command again.
	 */
	long disconnects();

	@Override
	void close();

}
