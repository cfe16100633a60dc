package io.distributedlock.testkit;

import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;

/**
 * Work under a lock.
 */
@FunctionalInterface
interface LockedWork {

	/**
	 * Works under a lock, and releases it.
	 * @param locks the locks
	 * @param request the request
	 * @param ended runs when the work has ended, before the release
	 * @return the result of the work
	 */
	String run(LockTemplate locks, LockRequest request, Runnable ended);

}
