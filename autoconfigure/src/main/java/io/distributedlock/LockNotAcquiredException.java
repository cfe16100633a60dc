package io.distributedlock;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the lock was busy for the whole wait time. The store answered: another
 * owner, or this thread by an earlier handle, holds it.
 *
 * @since 0.1.0
 */
public final class LockNotAcquiredException extends LockException {

	private static final long serialVersionUID = 1L;

	private final transient LockKey key;

	private final Duration waited;

	private final transient @Nullable LockHolder holder;

	/**
	 * Creates an exception.
	 * @param key the key that was busy
	 * @param waited how long the request waited
	 * @param holder the holder, or {@code null} if not known
	 */
	public LockNotAcquiredException(LockKey key, Duration waited, @Nullable LockHolder holder) {
		super(LockError.BUSY, message(key, waited, holder), null);
		this.key = key;
		this.waited = waited;
		this.holder = holder;
	}

	private static String message(LockKey key, Duration waited, @Nullable LockHolder holder) {
		return "Lock '" + key + "' is " + ((holder != null) ? holder.describe() : "held by an unknown holder")
				+ " and did not become free within " + waited.toMillis()
				+ " ms. Wait longer (waitTime), retry, or use onBusy = SKIP or a fallback";
	}

	/**
	 * Returns the key that was busy.
	 * @return the key
	 */
	public LockKey key() {
		return this.key;
	}

	/**
	 * Returns how long the request waited.
	 * @return the duration, not negative
	 */
	public Duration waited() {
		return this.waited;
	}

	/**
	 * Returns the holder at the last attempt.
	 * @return the holder, or {@code null} if the store does not know it
	 */
	public @Nullable LockHolder holder() {
		return this.holder;
	}

}
