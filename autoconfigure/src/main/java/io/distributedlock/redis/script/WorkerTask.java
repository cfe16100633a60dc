package io.distributedlock.redis.script;

import io.distributedlock.LockProviderException;

/**
 * A task for a worker, which runs once or is dropped.
 */
@FunctionalInterface
public interface WorkerTask extends Runnable {

	/**
	 * Handles that the task never runs; must not block.
	 * @param reason why not; nothing was sent
	 */
	default void drop(LockProviderException reason) {
	}

}
