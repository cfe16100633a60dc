package io.distributedlock;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The lock was busy for the whole wait time. The store answered: somebody else, or this
 * very thread by an earlier handle, holds it.
 *
 * @since 0.1.0
 */
public final class LockNotAcquiredException extends LockException {

	private static final long serialVersionUID = 1L;

	private final transient LockKey key;

	private final Duration waited;

	private final transient @Nullable LockHolder holder;

	public LockNotAcquiredException(LockKey key, Duration waited, @Nullable LockHolder holder) {
		super(LockError.BUSY, message(key, waited, holder), null);
		this.key = key;
		this.waited = waited;
		this.holder = holder;
	}

	private static String message(LockKey key, Duration waited, @Nullable LockHolder holder) {
		return "Lock '" + key + "' is held by " + ((holder != null) ? holder.describe() : "another owner")
				+ " and did not become free within " + waited.toMillis() + " ms";
	}

	/**
	 * The key that was busy.
	 * @return the key
	 */
	public LockKey key() {
		return this.key;
	}

	/**
	 * How long was waited.
	 * @return the duration, not negative
	 */
	public Duration waited() {
		return this.waited;
	}

	/**
	 * Who held the lock when it was last asked for.
	 * @return the holder, or {@code null} where the store could not tell
	 */
	public @Nullable LockHolder holder() {
		return this.holder;
	}

}
