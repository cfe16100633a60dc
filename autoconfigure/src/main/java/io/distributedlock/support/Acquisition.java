package io.distributedlock.support;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;

/**
 * A request on its way to a lock, as steps that never block but for one round trip. Who
 * drives it decides how to wait in between: by parking a thread, or with none.
 */
interface Acquisition {

	/**
	 * Goes as far as it can.
	 * @return what to do next
	 * @throws io.distributedlock.LockException if the request failed; nothing is left of
	 * it then
	 */
	Progress step();

	/** Until when to wait for the signal, if {@link Progress#WAIT}. */
	long waitUntil();

	/** The held lock, if {@link Progress#ACQUIRED}. */
	JoinableLease lease();

	/** The key that is asked for at present. */
	LockKey key();

	/** Who held the lock, if {@link Progress#BUSY} and known. */
	@Nullable LockHolder holder();

	/** Gives up between two steps, leaving nothing behind. */
	void abandon();

	/** How a step ended. */
	enum Progress {

		/** The lock is held. */
		ACQUIRED,
		/** The lock was busy for the whole wait time; nothing is left of the request. */
		BUSY,
		/** To be stepped again when signalled, or at the given time. */
		WAIT

	}

}
