package io.distributedlock;

import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

/**
 * Distributed locks for programs. Start here; annotated methods use it too.
 * <p>
 * A call ends within the longer of its wait time and the call time-out. Its outcome is
 * one of three: the lock is acquired, the lock is busy, or the store could not answer.
 * Safe for use by many threads.
 *
 * @since 0.1.0
 */
public interface LockOperations {

	/**
	 * Acquires the lock unless it stays busy for the wait time. The handle opens no
	 * scope: a further request of the same thread waits like any other request.
	 * @param request the request
	 * @return the held lock, or {@code null} if it is busy
	 * @throws LockLostException if a lock of several keys was lost before the last was
	 * acquired
	 * @throws LockProviderException if the store could not answer
	 * @throws LockInterruptedException if the thread is interrupted; its flag is set
	 * again
	 */
	@Nullable LockLease tryAcquire(LockRequest request);

	/**
	 * Acquires the lock. The handle opens no scope: a further request of the same thread
	 * waits like any other request.
	 * @param request the request
	 * @return the held lock
	 * @throws LockNotAcquiredException if it stays busy for the wait time
	 * @throws LockLostException if a lock of several keys was lost before the last was
	 * acquired
	 * @throws LockProviderException if the store could not answer
	 * @throws LockInterruptedException if the thread is interrupted; its flag is set
	 * again
	 */
	LockLease acquire(LockRequest request);

	/**
	 * Acquires the lock without a waiting thread.
	 * @param request the request
	 * @return completed with the held lock, or with the exception that {@link #acquire}
	 * would throw; cancelling it withdraws the request. Dependents run on one of a few
	 * threads of the library: use {@code thenApplyAsync} for long work
	 */
	CompletableFuture<LockLease> acquireAsync(LockRequest request);

	/**
	 * Runs the body while the lock is held, and releases it however the body ends. A
	 * nested call for keys that an enclosing call of this thread holds joins them without
	 * a round trip, with the same fencing token.
	 * @param <T> the body's result
	 * @param <E> the exception that the body may throw
	 * @param request the request
	 * @param body the work to do
	 * @return the body's result
	 * @throws E what the body threw, unchanged; a lost lock is added as suppressed
	 * @throws LockNotAcquiredException if the lock stays busy for the wait time
	 * @throws LockProviderException if the store could not answer
	 * @throws LockInterruptedException if the thread is interrupted while it waits
	 * @throws LockLostException if the lock was lost before the body had returned, or the
	 * body did not start because a lock that it needs was lost while others were waited
	 * for
	 */
	<T extends @Nullable Object, E extends Throwable> T execute(LockRequest request, LockCallback<T, E> body) throws E;

}
