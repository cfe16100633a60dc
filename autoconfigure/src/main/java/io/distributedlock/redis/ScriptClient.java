package io.distributedlock.redis;

import java.util.List;
import java.util.concurrent.TimeoutException;

import io.distributedlock.provider.CallKind;

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
	Pending<Answer> start(ScriptCall call, CallKind kind, long deadline) throws InterruptedException, TimeoutException;

	/**
	 * How many connections have broken so far. If the number changes during a call, the
	 * client may have sent the command again.
	 */
	long disconnects();

	@Override
	void close();

	/**
	 * What a script answered.
	 *
	 * @param values the answer
	 * @param replicated whether enough replicas have what it did, where that is asked for
	 */
	record Answer(List<?> values, boolean replicated) {
	}

	/**
	 * Something that is under way.
	 *
	 * @param <T> what it gives
	 */
	@FunctionalInterface
	interface Pending<T> {

		/**
		 * Waits for the result; ends at the deadline at the latest.
		 * @return the result
		 * @throws TimeoutException if there was none in time
		 * @throws InterruptedException if an interrupt ended the wait
		 */
		T await() throws InterruptedException, TimeoutException;

	}

}
