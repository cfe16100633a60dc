package io.distributedlock.benchmarks.contender;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * A library that locks, or a client that does the least that a lock needs. Used by many
 * threads at once; a lock is released by the thread that acquired it.
 */
public interface Contender extends AutoCloseable {

	/**
	 * Acquires a lock.
	 * @param key the key
	 * @param wait how long to wait for a holder; zero is one attempt
	 * @return the lock, or {@code null} if it was not to be had in that time
	 * @throws Exception whatever the library throws
	 */
	@Nullable HeldLock acquire(String key, Duration wait) throws Exception;

	/**
	 * Acquires one side of a read-write lock.
	 * @param key the key, which no other kind of lock has
	 * @param writes whether the holder is alone, rather than with others that read
	 * @param wait how long to wait for holders
	 * @return the lock, or {@code null} if it was not to be had in that time
	 * @throws Exception whatever the library throws
	 */
	default @Nullable HeldLock acquire(String key, boolean writes, Duration wait) throws Exception {
		throw new UnsupportedOperationException("This library has no read-write lock");
	}

	/**
	 * Runs a body under a lock, as the library's users would where the body may ask for
	 * the same lock again.
	 * @param key the key
	 * @param body what to run
	 * @throws Exception whatever the library throws
	 */
	default void execute(String key, Body body) throws Exception {
		HeldLock lock = acquire(key, Duration.ofSeconds(30));
		if (lock == null) {
			throw new IllegalStateException("The lock '" + key + "' is busy");
		}
		try {
			body.run();
		}
		finally {
			lock.release();
		}
	}

	/** What runs under a lock. */
	interface Body {

		void run() throws Exception;

	}

}
