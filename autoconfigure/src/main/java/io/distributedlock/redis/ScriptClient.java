package io.distributedlock.redis;

import java.util.List;
import java.util.concurrent.TimeoutException;

/**
 * Runs scripts in the server by one of the Redis clients, each bounded in time.
 */
interface ScriptClient extends AutoCloseable {

	/**
	 * Starts a script.
	 * @param call what to run
	 * @param kind what it is for
	 * @param deadline until when it may take, as {@link System#nanoTime()} counts
	 * @return the run, which has to be awaited
	 */
	Pending start(ScriptCall call, CallKind kind, long deadline) throws InterruptedException, TimeoutException;

	/**
	 * How many connections have broken so far. If the number changes during a call, the
	 * client may have sent the command again.
	 */
	long disconnects();

	@Override
	void close();

	/** A script that runs. */
	@FunctionalInterface
	interface Pending {

		/**
		 * Waits for the answer; ends at the deadline at the latest.
		 * @return the answer
		 * @throws TimeoutException if there was none in time
		 * @throws InterruptedException if an interrupt ended the wait
		 */
		List<?> await() throws InterruptedException, TimeoutException;

	}

}
