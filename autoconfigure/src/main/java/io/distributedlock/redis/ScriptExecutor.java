package io.distributedlock.redis;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;

/**
 * Executor of scripts on the server through one of the Redis clients. Repeats a run while
 * the server replies that it cannot serve it yet, and translates errors.
 */
interface ScriptExecutor extends AutoCloseable {

	/**
	 * Whether {@link #run} waits for the end of the run. If not, it never waits, and may
	 * be called on an event loop.
	 */
	boolean isBlocking();

	/**
	 * Runs a script. Never throws: a failure ends the operation.
	 * @param call the script with its keys and arguments
	 * @param kind the purpose of the run
	 * @param deadline the end of a run that blocks; otherwise the operation is abandoned
	 * then, and nothing is repeated after it
	 * @param operation what follows the reply
	 */
	void run(ScriptCall call, CallKind kind, Deadline deadline, ScriptOperation<?> operation);

	@Override
	void close();

}
