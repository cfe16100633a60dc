package io.distributedlock;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.function.Consumer;

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
	 * Acquires the lock if it is free. Makes one attempt, unless the request has a wait
	 * time of its own: the default wait time does not apply. The handle opens no scope: a
	 * further request of the same thread finds the lock busy like any other request.
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
	default CompletableFuture<LockLease> acquireAsync(LockRequest request) {
		return acquireAsync(request, List.of());
	}

	/**
	 * Acquires the lock without a waiting thread, and joins the enclosing locks of the
	 * same flow of work: a key that one of them holds costs no round trip, and has the
	 * same fencing token. A joined lock is held until the returned handle is closed too.
	 * @param request the request
	 * @param enclosing the locks that the flow of work runs under, the innermost first,
	 * such as those of {@link LockContext#findAll()}
	 * @return as {@link #acquireAsync(LockRequest)}. Who implements this over another
	 * instance passes a cancellation on to its future, and the enclosing handles as that
	 * instance has returned them
	 */
	CompletableFuture<LockLease> acquireAsync(LockRequest request, List<LockLease> enclosing);

	/**
	 * Runs the body while the lock is held, and releases it however the body ends. A
	 * nested call for keys that an enclosing call of this thread holds joins them without
	 * a round trip, with the same fencing token.
	 * <p>
	 * A lock that is acquired inside a running transaction is kept until that has
	 * completed, unless the engine is configured otherwise.
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

	/**
	 * Runs the body while the lock for a key is held, with the defaults.
	 * @param <T> the body's result
	 * @param <E> the exception that the body may throw
	 * @param key the key
	 * @param body the work to do
	 * @return the body's result
	 * @throws E what the body threw, unchanged; a lost lock is added as suppressed
	 * @throws LockException as {@link #execute(LockRequest, LockCallback)}
	 */
	default <T extends @Nullable Object, E extends Throwable> T execute(LockKey key, LockCallback<T, E> body) throws E {
		return execute(LockRequest.of(key), body);
	}

	/**
	 * Runs a body without a result while the lock is held, as
	 * {@link #execute(LockRequest, LockCallback)} does.
	 * @param request the request
	 * @param body the work to do; what it throws is thrown unchanged
	 * @throws LockException as {@link #execute(LockRequest, LockCallback)}
	 */
	default void executeWithoutResult(LockRequest request, Consumer<? super LockLease> body) {
		this.<@Nullable Object, RuntimeException>execute(request, (lease) -> {
			body.accept(lease);
			return null;
		});
	}

	/**
	 * Runs a body without a result while the lock for a key is held, with the defaults.
	 * @param key the key
	 * @param body the work to do; what it throws is thrown unchanged
	 * @throws LockException as {@link #execute(LockRequest, LockCallback)}
	 */
	default void executeWithoutResult(LockKey key, Consumer<? super LockLease> body) {
		executeWithoutResult(LockRequest.of(key), body);
	}

	/**
	 * Starts work while the lock is held, and releases the lock when the work has ended.
	 * The calling thread waits for the lock and runs the body, which starts the work; it
	 * leaves the scope of the lock when the body has returned. The lock is held until the
	 * stage that the body has returned is complete.
	 * <p>
	 * A nested call for keys that an enclosing call of this thread holds joins them, and
	 * keeps them after the enclosing call has returned. A lock that is acquired inside a
	 * running transaction is held until the work and the transaction are over.
	 * @param <T> the result of the work
	 * @param <E> the exception that the body may throw
	 * @param request the request
	 * @param body starts the work
	 * @return completed as the stage of the body, after the release; with a
	 * {@link LockLostException} if the lock was lost before; cancelling it cancels a
	 * {@code CompletableFuture} of the body. Dependents may run on one of a few threads
	 * of the library: use {@code thenApplyAsync} for long work. {@code null} if the body
	 * has returned {@code null}
	 * @throws E what the body threw, unchanged; a lost lock is added as suppressed
	 * @throws LockNotAcquiredException if the lock stays busy for the wait time
	 * @throws LockProviderException if the store could not answer
	 * @throws LockInterruptedException if the thread is interrupted while it waits
	 * @throws LockLostException as {@link #execute}
	 */
	<T extends @Nullable Object, E extends Throwable> @Nullable CompletableFuture<T> executeAsync(LockRequest request,
			LockCallback<? extends @Nullable CompletionStage<T>, E> body) throws E;

	/**
	 * Returns a view of the lock as a {@link Lock}, for code that is written against
	 * that. It belongs to the thread that locks it, and is re-entrant: views with equal
	 * keys are one lock, and it joins the locks of {@link #execute} and of annotated
	 * methods on its thread as they join it. Between {@code lock} and {@code unlock} the
	 * thread runs in the scope of the lock ({@link LockContext#current()}).
	 * <p>
	 * {@code lock} and {@code lockInterruptibly} wait as long as it takes while the store
	 * answers; once it has failed for the {@linkplain LockRequest#waitTime() wait time},
	 * they throw its {@link LockProviderException}. {@code tryLock} makes one attempt,
	 * and its other form waits as long as it says. All of them throw a
	 * {@link LockLostException} where the thread holds the lock and has lost it.
	 * {@code newCondition} is not supported.
	 * <p>
	 * {@code unlock} throws a {@link LockLostException} if the lock was lost, and
	 * {@link IllegalMonitorStateException} if the thread has not locked it, or runs in a
	 * body that has joined it. Inside a running transaction the lock is kept until that
	 * has completed.
	 * @param request the request
	 * @return the view, which holds nothing by itself; safe for use by many threads
	 */
	Lock asLock(LockRequest request);

	/**
	 * Returns a view of a lock as a {@link ReadWriteLock}: its read lock asks for a
	 * {@linkplain LockRequest#shared() share}, its write lock for the whole key. Both are
	 * as {@link #asLock} describes. A thread that has the write lock may lock the read
	 * lock too; one that has only the read lock is refused the write lock, for which it
	 * would wait for ever.
	 * @param request the request, whose mode is ignored
	 * @return the view
	 * @throws LockConfigurationException if the request has a shortest hold
	 */
	default ReadWriteLock asReadWriteLock(LockRequest request) {
		Lock read = asLock(request.shared());
		Lock write = asLock(request.exclusive());
		return new ReadWriteLock() {

			@Override
			public Lock readLock() {
				return read;
			}

			@Override
			public Lock writeLock() {
				return write;
			}

		};
	}

}
