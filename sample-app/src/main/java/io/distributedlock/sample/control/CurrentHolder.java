package io.distributedlock.sample.control;

import java.util.Optional;

/**
 * Reads the holder of the lock of the event that is on sale from the locks' store.
 */
interface CurrentHolder {

	/**
	 * Reads the present holder.
	 * @return the holder, if there is one
	 */
	Optional<HoldingProcess> find();

}
