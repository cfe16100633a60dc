package io.distributedlock.engine.grant;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.ObserverScope;

/**
 * A handle of the engine, which a nested request can join.
 */
public interface JoinableLease extends LockLease, ObserverScope.Source {

	/** Whether the handle is for a key, perhaps among others. */
	boolean covers(LockKey key);

	/**
	 * Returns the handle that a nested request for a key joins, however deep it is: not
	 * one that has joined the lock of another one itself.
	 */
	default JoinableLease owner(LockKey key) {
		return this;
	}

	/** Returns the shortest hold of a key that the handle is for, 0 for none. */
	long minHoldNanos(LockKey key);

	/**
	 * Lets the release of a key, which the handle is for, keep it until an instant, for a
	 * nested request with a shortest hold.
	 * @param untilNanos the end of that shortest hold by the nano time
	 * @param uncovered receives the grant if the store has to be told soon
	 */
	void prolongMinHold(LockKey key, long untilNanos, Consumer<HeldGrant> uncovered);

	/**
	 * Records that no work began under the lock: a release of what this handle owns frees
	 * it at once.
	 */
	default void forgetMinHold() {
		// The handle owns nothing.
	}

	/**
	 * Releases the lock as {@link #closeAsync()} does, after no work has begun under it:
	 * it is not kept for its shortest hold.
	 * @return as {@link #closeAsync()}
	 */
	default CompletableFuture<Void> closeUnusedAsync() {
		forgetMinHold();
		return closeAsync();
	}

	/**
	 * Whether the handle has joined another one without keeping its lock, so that it is
	 * not held any more when the other one is closed.
	 */
	default boolean dependsOn(JoinableLease enclosing) {
		return false;
	}

	/**
	 * Records that a transaction keeps the lock, with what the handle has joined: it does
	 * not depend on another handle any more.
	 */
	default void recordKept() {
		// The handle owns all that it has.
	}

	/** Whether the lock is among these grants. */
	boolean isOf(HeldGrants grants);

	/**
	 * Releases the lock, in the background if the call has not ended in time.
	 * @param instantNanos the end of the call by the nano time
	 */
	void closeBy(long instantNanos);

	/** Releases the lock in the background. */
	void closeInBackground();

	/**
	 * Keeps the lock, so that closing this handle does not release it before the returned
	 * one is closed too.
	 * @return another handle of the lock, or {@code null} if the lock was released before
	 */
	@Nullable JoinableLease keep();

	/**
	 * Throws the loss of the lock, if it was lost.
	 * @param error the error of the exception
	 */
	void throwLoss(LockError error);

	/** Adds the loss of the lock, if it was lost, to what work under it has thrown. */
	default void addLossTo(Throwable thrown) {
		if (lossReason() != null && !(thrown instanceof LockLostException)) {
			try {
				throwLoss(LockError.LOST);
			}
			catch (LockLostException loss) {
				thrown.addSuppressed(loss);
			}
		}
	}

}
