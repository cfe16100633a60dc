package io.distributedlock.engine.queue;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.engine.grant.EngineLease;

/**
 * A request for a lock, as a sequence of steps. Its runner decides how to wait between
 * steps.
 */
public interface RunningRequest {

	/**
	 * Makes as much progress as possible.
	 * @return how the step ended
	 * @throws io.distributedlock.LockException if the request failed; it has then left
	 * the queue
	 */
	Progress step();

	/** Returns the end of the wait by the nano time, after {@link Progress#WAIT}. */
	long waitUntilNanos();

	/** Returns the held lock, after {@link Progress#ACQUIRED}. */
	EngineLease lease();

	/** Returns the key that is being acquired. */
	LockKey key();

	/** Returns the holder, after {@link Progress#BUSY} and if known. */
	@Nullable LockHolder holder();

	/**
	 * Ends the request between two steps, and releases what it has acquired or will have
	 * acquired.
	 */
	void abandon();

	/** How a step ended. */
	enum Progress {

		/** The lock is held. */
		ACQUIRED,
		/** The lock was busy for the whole wait time; the request has left the queue. */
		BUSY,
		/** The next step follows a signal, or the end of the wait. */
		WAIT

	}

}
