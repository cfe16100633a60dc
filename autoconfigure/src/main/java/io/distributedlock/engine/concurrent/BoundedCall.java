package io.distributedlock.engine.concurrent;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.StoreCall;

/**
 * Calls to the store that end in time, also if the store does not answer. At the end of
 * its time a call is abandoned.
 */
public final class BoundedCall {

	private BoundedCall() {
	}

	/**
	 * Makes a call that no thread waits for; the timer bounds it.
	 * @param <T> the type of the result
	 * @param command sends the call
	 * @param timeout how long the call may take once it is sent
	 * @param onEnd receives the result or the failure, once; neither if the time is over
	 */
	public static <T> void begin(Supplier<StoreCall<T>> command, EngineEnvironment environment, Duration timeout,
			EndHandler<T> onEnd) {
		StoreCall<T> call;
		try {
			call = Objects.requireNonNull(command.get(), "The store returned no call");
		}
		catch (RuntimeException | Error ex) {
			onEnd.ended(null, ex);
			return;
		}
		if (call.isDone()) {
			end(call, onEnd);
			return;
		}
		TimeLimit limit = new TimeLimit(() -> {
			try {
				call.abandon();
			}
			finally {
				onEnd.ended(null, null);
			}
		});
		limit.begin(environment, timeout);
		call.onDone(() -> {
			if (limit.end()) {
				end(call, onEnd);
			}
		});
	}

	private static <T> void end(StoreCall<T> done, EndHandler<T> onEnd) {
		T result;
		try {
			result = done.result();
		}
		catch (RuntimeException | Error ex) {
			onEnd.ended(null, ex);
			return;
		}
		onEnd.ended(result, null);
	}

	/**
	 * Waits for a call by a timed park of the current thread. An interrupt does not end
	 * the wait; the thread is interrupted again after it.
	 * @param call the call, for whose end nothing else waits
	 * @param untilNanos the end of the wait by the nano time
	 * @return whether the call is done
	 */
	public static boolean await(StoreCall<?> call, EngineEnvironment environment, long untilNanos) {
		if (call.isDone()) {
			return true;
		}
		Thread thread = Thread.currentThread();
		call.onDone(() -> LockSupport.unpark(thread));
		boolean interrupted = false;
		while (!call.isDone()) {
			long left = untilNanos - environment.nanoTime();
			if (left <= 0) {
				call.abandon();
				break;
			}
			LockSupport.parkNanos(call, left);
			interrupted |= Thread.interrupted();
		}
		if (interrupted) {
			thread.interrupt();
		}
		return call.isDone();
	}

	/**
	 * What follows the end of a call.
	 *
	 * @param <T> the type of the result
	 */
	@FunctionalInterface
	public interface EndHandler<T> {

		/**
		 * Handles the end.
		 * @param result the result, or {@code null} without one
		 * @param failure the failure, or {@code null} if there is none, or the time is
		 * over
		 */
		void ended(@Nullable T result, @Nullable Throwable failure);

	}

}
