package io.distributedlock.benchmarks.contender;

/**
 * A lock that is held.
 */
public interface HeldLock {

	/**
	 * Releases the lock.
	 * @throws Exception whatever the library throws
	 */
	void release() throws Exception;

}
