package io.distributedlock.redis.check;

import java.util.List;
import java.util.function.Supplier;

/**
 * The checks of all servers that keep locks. Safe for use by many threads.
 */
public interface TopologyCheck {

	/** Whether attempts at the locks of a slot may be sent. */
	boolean isDone(int slot);

	/**
	 * Returns what is required before the first attempt at a lock of a slot.
	 * @return supplies scripts to be run together, again after these, until there are
	 * none; throws a {@code LockException} if the servers cannot keep locks
	 */
	Supplier<List<CheckScript>> ofSlot(int slot);

	/**
	 * Returns the scripts for all servers at start. In a cluster those without a reply
	 * are left to the first attempts.
	 * @return as for a slot
	 */
	Supplier<List<CheckScript>> ofAll();

}
