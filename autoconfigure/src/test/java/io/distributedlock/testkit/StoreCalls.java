package io.distributedlock.testkit;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * Waits for calls to a store, and watches them, for tests without an engine.
 */
public final class StoreCalls {

	private static final Duration PATIENCE = Duration.ofSeconds(10);

	private StoreCalls() {
	}

	/**
	 * Waits for a call that has to end by itself.
	 * @param <T> the type of the result
	 * @param call the call
	 * @return the result
	 * @throws io.distributedlock.LockException if the call fails
	 * @throws AssertionError if it is under way for ten seconds; it is then abandoned
	 */
	public static <T> T resultOf(StoreCall<T> call) {
		if (!isDoneWithin(call, PATIENCE)) {
			throw new AssertionError("The store did not answer within " + PATIENCE);
		}
		return call.result();
	}

	/**
	 * Waits for a call as the engine does: one that does not end in time, or before an
	 * interrupt, is abandoned and has failed.
	 * @param <T> the type of the result
	 * @param call the call
	 * @param timeout how long it may take
	 * @return the result
	 * @throws io.distributedlock.LockException if the call fails
	 */
	public static <T> T resultOf(StoreCall<T> call, Duration timeout) {
		if (!isDoneWithin(call, timeout)) {
			throw new LockProviderException(LockError.STORE_TIMEOUT, "under test",
					"did not answer within " + timeout.toMillis() + " ms", null);
		}
		return call.result();
	}

	/**
	 * Waits for a release or withdrawal as the engine does: the outcome of one that does
	 * not end in time, or before an interrupt, is unknown.
	 * @param call the call
	 * @param timeout how long it may take
	 * @return the outcome
	 */
	public static ReleaseOutcome outcomeOf(StoreCall<ReleaseOutcome> call, Duration timeout) {
		return isDoneWithin(call, timeout) ? call.result() : ReleaseOutcome.UNKNOWN;
	}

	/** Waits for a call, and abandons it if that is in vain. */
	private static boolean isDoneWithin(StoreCall<?> call, Duration timeout) {
		if (call.isDone()) {
			return true;
		}
		CountDownLatch done = new CountDownLatch(1);
		call.onDone(done::countDown);
		try {
			if (done.await(timeout.toNanos(), TimeUnit.NANOSECONDS)) {
				return true;
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		call.abandon();
		return call.isDone();
	}

	/**
	 * Watches a call without waiting for it.
	 * @param <T> the type of the result
	 * @param call the call
	 * @param watcher told the result or the failure, or neither if the call was
	 * abandoned; once, and before the returned call ends
	 * @return the call to hand on in its place
	 */
	public static <T> StoreCall<T> watched(StoreCall<T> call,
			BiConsumer<@Nullable T, @Nullable RuntimeException> watcher) {
		CompletableStoreCall<T> watched = new CompletableStoreCall<>();
		AtomicBoolean ended = new AtomicBoolean();
		watched.onAbandon(() -> {
			call.abandon();
			watched.recordSent(call.mayHaveBeenSent());
			if (ended.compareAndSet(false, true)) {
				watcher.accept(null, null);
			}
		});
		call.onDone(() -> {
			if (ended.compareAndSet(false, true)) {
				handOn(call, watched, watcher);
			}
		});
		return watched;
	}

	private static <T> void handOn(StoreCall<T> call, CompletableStoreCall<T> watched,
			BiConsumer<@Nullable T, @Nullable RuntimeException> watcher) {
		T result;
		try {
			result = call.result();
		}
		catch (RuntimeException ex) {
			watcher.accept(null, ex);
			watched.recordSent(call.mayHaveBeenSent());
			watched.fail(ex);
			return;
		}
		watcher.accept(result, null);
		watched.complete(result);
	}

}
