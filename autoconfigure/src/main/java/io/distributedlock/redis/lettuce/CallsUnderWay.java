package io.distributedlock.redis.lettuce;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.script.RedisErrors;

/**
 * The number of calls that have begun and not ended, for the end of an executor, which
 * waits for them. Safe for use by many threads.
 */
final class CallsUnderWay {

	private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private final AtomicInteger count = new AtomicInteger();

	private volatile boolean closed;

	/** Counts a call that begins. Each has to end once, also a refused one. */
	void begin() {
		this.count.incrementAndGet();
	}

	/**
	 * Requires that a call that was counted may send its command.
	 * @throws LockProviderException after the end of the executor has begun
	 */
	void requireOpen() {
		// A call that was counted before the end is waited for.
		if (this.closed) {
			throw RedisErrors.closed(null);
		}
	}

	void end() {
		this.count.decrementAndGet();
	}

	/** Refuses further commands. */
	void close() {
		this.closed = true;
	}

	/** Waits until all calls have ended, or until a deadline or an interrupt. */
	void awaitEnd(Deadline deadline) {
		while (this.count.get() > 0 && !deadline.isPast() && !Thread.currentThread().isInterrupted()) {
			LockSupport.parkNanos(LOOK_NANOS);
		}
	}

}
