package io.distributedlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

/**
 * The handle of a held lock, by which its holder checks it, reads its fencing token, and
 * releases it. It is not bound to a thread: any thread may check and close it.
 * <p>
 * Whether the lock is held is judged locally, by a deadline before the end of the lease
 * in the store, without a round trip. If the store is unreachable, the lock is held until
 * that deadline, and is then reported as lost.
 *
 * @since 0.1.0
 */
public interface LockLease extends AutoCloseable {

	/**
	 * Returns the keys that are held.
	 * @return the keys, sorted, at least one
	 */
	List<LockKey> keys();

	/**
	 * Returns the fencing token of the only key. Shared calls of one process that use one
	 * grant have one token, and lose it together. The token of a share is lower than
	 * those of the exclusive holds that follow it; fences ignore shares.
	 * @return the token; the same for the whole hold, and after it
	 * @throws IllegalStateException if several keys are held
	 */
	FencingToken fencingToken();

	/**
	 * Returns the fencing token of the given key.
	 * @param key one of the {@link #keys() keys}
	 * @return the token
	 * @throws IllegalArgumentException if the key is not one of them
	 */
	FencingToken fencingToken(LockKey key);

	/**
	 * Returns who may hold a key at the same time.
	 * @param key one of the {@link #keys() keys}
	 * @return the mode in which it was acquired; {@link LockMode#EXCLUSIVE} unless
	 * overridden
	 */
	default LockMode mode(LockKey key) {
		return LockMode.EXCLUSIVE;
	}

	/**
	 * Returns the name of the store that orders the tokens. Tokens of one key can be
	 * compared only if they are from one source.
	 * @return the name of the provider, or a word for a handle that no provider has
	 * granted
	 */
	default String tokenSource() {
		return "application";
	}

	/**
	 * Returns whether the lock is still held, by the local deadline. A lock that other
	 * work or a running transaction keeps is held until that has ended, also after this
	 * handle was closed.
	 * @return {@code false} once it was released, lost, or its deadline has passed
	 */
	boolean isHeld();

	/**
	 * Returns how long the lock lasts unless it is renewed.
	 * @return the time to the local deadline, zero if the lock is not held
	 */
	Duration remaining();

	/**
	 * Returns why the lock was lost.
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
	 * Registers an action that runs when the lock is lost, or at once if it was lost. It
	 * runs on one of a few threads of the library, after the actions registered before
	 * it. Use a thread of the application for long work. Exceptions of the action are
	 * logged.
	 * @param action the action, which must not block for long
	 * @return the registration, whose closing removes the action; a lock that is not lost
	 * has no use for it after its release
	 */
	LossRegistration onLost(Runnable action);

	/**
	 * Releases the lock, once, from any thread, within the call time-out. Closing again
	 * has no effect. Closing a lost lock releases what the store may still keep of its
	 * grant, and of no other grant. A release that the store does not confirm is repeated
	 * in the background; the lock then ends with its lease at the latest.
	 */
	@Override
	void close();

	/**
	 * Releases the lock as {@link #close()} does, but without waiting for the store: for
	 * threads that must not block.
	 * @return completed once the store has answered, after the call time-out at the
	 * latest, whether the release is confirmed or not; {@link #lossReason()} then tells a
	 * lock that was lost before. Never fails. Dependents run on one of a few threads of
	 * the library
	 */
	CompletableFuture<Void> closeAsync();

}
