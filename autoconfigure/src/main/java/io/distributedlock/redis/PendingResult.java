package io.distributedlock.redis;

import java.util.concurrent.TimeoutException;

/**
 * The result of a call that has begun and ends at its deadline at the latest.
 *
 * @param <T> the type of the result
 */
@FunctionalInterface
interface PendingResult<T> {

	/**
	 * Waits for the result until the deadline of the call.
	 * @return the result
	 * @throws TimeoutException if the deadline passed first
	 * @throws InterruptedException if an interrupt ended the wait
	 */
	T await() throws InterruptedException, TimeoutException;

}
