package io.distributedlock.provider;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProviderException;

/**
 * A call that the client completes later. Safe for use by many threads.
 * <p>
 * The state moves once from under way to done or abandoned. The action that follows runs
 * once, by whichever comes second: its registration or the end of the call.
 *
 * @param <T> the type of the result
 * @since 0.1.0
 */
public final class CompletableStoreCall<T> implements StoreCall<T> {

	/** Null, the action to run, or the {@link Outcome}. */
	private final AtomicReference<@Nullable Object> state = new AtomicReference<>();

	private final AtomicReference<@Nullable Runnable> cancellation = new AtomicReference<>();

	private volatile boolean sent = true;

	/**
	 * Sets what gives up the command, such as the cancellation of the client's future.
	 * Runs at once if the call was abandoned before.
	 * @param action what to run when the call is abandoned; quick
	 */
	public void onAbandon(Runnable action) {
		this.cancellation.set(action);
		if (isAbandoned()) {
			cancel();
		}
	}

	/**
	 * Records whether the command was sent. Without a record it counts as sent.
	 * @param sent {@code false} before the client has it, {@code true} once it may be on
	 * its way
	 */
	public void recordSent(boolean sent) {
		this.sent = sent;
	}

	/**
	 * Completes the call with a result.
	 * @param result the result
	 * @return {@code false} if the call was done or abandoned before
	 */
	public boolean complete(T result) {
		return end(new Outcome<>(result, null));
	}

	/**
	 * Completes the call with a failure.
	 * @param failure the failure
	 * @return {@code false} if the call was done or abandoned before
	 */
	public boolean fail(RuntimeException failure) {
		return end(new Outcome<>(null, failure));
	}

	/**
	 * Returns whether nobody waits for the result any more.
	 * @return whether the call was abandoned
	 */
	public boolean isAbandoned() {
		return this.state.get() == Outcome.ABANDONED;
	}

	@SuppressWarnings("ReferenceEquality") // an outcome without a result would be equal
	private boolean end(Outcome<?> outcome) {
		Object present = this.state.get();
		while (!(present instanceof Outcome)) {
			if (this.state.compareAndSet(present, outcome)) {
				if (present instanceof Runnable action && outcome != Outcome.ABANDONED) {
					action.run();
				}
				return true;
			}
			present = this.state.get();
		}
		return false;
	}

	@Override
	public boolean isDone() {
		Object present = this.state.get();
		return present instanceof Outcome && present != Outcome.ABANDONED;
	}

	@Override
	@SuppressWarnings("unchecked")
	public T result() {
		Object present = this.state.get();
		if (!(present instanceof Outcome) || present == Outcome.ABANDONED) {
			throw new IllegalStateException("The call is under way, or was abandoned");
		}
		Outcome<T> outcome = (Outcome<T>) present;
		if (outcome.failure() != null) {
			throw outcome.failure();
		}
		return Objects.requireNonNull(outcome.result(), "The store returned no result");
	}

	@Override
	public void onDone(Runnable action) {
		Object present = this.state.compareAndExchange(null, action);
		if (present instanceof Runnable) {
			throw new IllegalStateException("The action that follows this call is registered already");
		}
		if (present != null && present != Outcome.ABANDONED) {
			action.run();
		}
	}

	@Override
	public void abandon() {
		if (end(Outcome.ABANDONED)) {
			cancel();
		}
	}

	/**
	 * Runs the action once: the abandonment may come between its registration and now.
	 */
	private void cancel() {
		Runnable action = this.cancellation.getAndSet(null);
		if (action != null) {
			action.run();
		}
	}

	@Override
	public boolean mayHaveBeenSent() {
		if (this.state.get() instanceof Outcome<?> outcome
				&& outcome.failure() instanceof LockProviderException failure) {
			return failure.isEffectUnknown();
		}
		return this.sent;
	}

	private record Outcome<T>(@Nullable T result, @Nullable RuntimeException failure) {

		static final Outcome<Object> ABANDONED = new Outcome<>(null, null);

	}

}
