package io.distributedlock.engine.concurrent;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.StoreCall;

/**
 * A call to the store that nobody waits for, bounded by the timer. Its end is handled
 * once: with the call that is done, or without one when the time is over.
 *
 * @param <T> the type of the result
 */
public final class BoundedCall<T> {

	private final StoreCall<T> call;

	private final Consumer<@Nullable StoreCall<T>> onEnd;

	private final AtomicBoolean ended = new AtomicBoolean();

	private volatile Runnable cancellation = () -> {
	};

	private BoundedCall(StoreCall<T> call, Consumer<@Nullable StoreCall<T>> onEnd) {
		this.call = call;
		this.onEnd = onEnd;
	}

	/**
	 * Bounds a call.
	 * @param call the call
	 * @param timeout how long it may take
	 * @param onEnd receives the call that is done, or {@code null} after it was abandoned
	 */
	public static <T> void begin(StoreCall<T> call, EngineEnvironment environment, Duration timeout,
			Consumer<@Nullable StoreCall<T>> onEnd) {
		if (call.isDone()) {
			onEnd.accept(call);
			return;
		}
		BoundedCall<T> bounded = new BoundedCall<>(call, onEnd);
		try {
			bounded.cancellation = environment.schedule(bounded::expire, timeout.toNanos());
		}
		catch (OutOfMemoryError ex) {
			// A call without a bound might never end.
			call.abandon();
			throw ex;
		}
		call.onDone(bounded::done);
	}

	private void done() {
		if (this.ended.compareAndSet(false, true)) {
			this.cancellation.run();
			this.onEnd.accept(this.call);
		}
	}

	private void expire() {
		if (this.ended.compareAndSet(false, true)) {
			try {
				this.call.abandon();
			}
			finally {
				this.onEnd.accept(null);
			}
		}
	}

}
