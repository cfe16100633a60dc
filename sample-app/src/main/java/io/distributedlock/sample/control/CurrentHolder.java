package io.distributedlock.sample.control;

import java.util.Optional;

/**
 * Reads from the locks' store, without asking for a lock, who holds that of the event
 * that is on sale.
 */
interface CurrentHolder {

	/**
	 * Looks who holds the lock now.
	 * @return the holder, if there is one
	 */
	Optional<LockHolder> find();

}
