package io.distributedlock.redis;

import java.util.List;
import java.util.function.Supplier;

/**
 * The look at all servers that keep locks. Safe for use by many threads.
 */
interface ServerSurvey {

	/** Whether attempts at the locks of a slot may be sent. */
	boolean isDone(int slot);

	/** Whether attempts at all locks may be sent. */
	boolean isDone();

	/**
	 * Returns what is required before the first attempt at a lock of a slot.
	 * @return supplies scripts to be run together, again after these, until there are
	 * none; throws a {@code LockException} if the servers cannot keep locks
	 */
	Supplier<List<CheckStep>> ofSlot(int slot);

	/**
	 * Returns the survey of all servers at start, which goes on without those that do not
	 * reply where each is looked at again before its first attempt.
	 * @return as for a slot
	 */
	Supplier<List<CheckStep>> ofAll();

}
