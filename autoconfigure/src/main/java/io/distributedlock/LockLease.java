package io.distributedlock;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A held lock: the handle by which its holder checks it, reads its fencing token, and
 * gives it back. Not bound to a thread: any thread may check and close it.
 * <p>
 * Whether it is held is judged locally, by a deadline that lies before the end of the
 * lease in the store; the network is never asked. When the store is lost, the lock is
 * held until that deadline and is told to be lost then.
 *
 * @since 0.1.0
 */
public interface LockLease extends AutoCloseable {

	/**
	 * The keys that are held.
	 * @return the keys, sorted, at least one
	 */
	List<LockKey> keys();

	/**
	 * The fencing token of the only key.
	 * @return the token; the same for the whole hold, and after it
	 * @throws IllegalStateException if several keys are held
	 */
	FencingToken fencingToken();

	/**
	 * The fencing token of the given key.
	 * @param key one of the {@link #keys() keys}
	 * @return the token
	 * @throws IllegalArgumentException if the key is not one of them
	 */
	FencingToken fencingToken(LockKey key);

	/**
	 * Whether the lock is still held, by the local deadline.
	 * @return {@code false} once it was closed, lost, or its deadline has passed
	 */
	boolean isHeld();

	/**
	 * How long the lock lasts unless it is renewed.
	 * @return the time to the local deadline, zero if the lock is not held
	 */
	Duration remaining();

	/**
	 * Why the lock was lost.
	 * @return the reason, or {@code null} if it is held, or was released before it was
	 * lost
	 */
	@Nullable LossReason lossReason();

	/**
	 * Checks that the lock is still held.
	 * @throws LockLostException if it was lost
	 * @throws IllegalStateException if it was closed
	 */
	void ensureHeld();

	/**
	 * Registers an action to be run when the lock is lost; at once if it already is. It
	 * runs on one of a few threads of the library, after those registered before it; what
	 * takes long belongs on a thread of the application. Its exceptions are logged.
	 * @param action the action
	 */
	void onLost(Runnable action);

	/**
	 * Gives the lock back: once, from any thread, within the call time-out. Closing again
	 * changes nothing; closing a lost lock takes back what may be left of it, and of no
	 * other grant. A release that the store does not confirm is repeated in the
	 * background; the lock then ends with its lease at the latest.
	 */
	@Override
	void close();

}
