package io.distributedlock.provider;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProviderException;

/**
 * A call that is done.
 *
 * @param <T> the type of the result
 * @since 0.1.0
 */
public final class AnsweredStoreCall<T> implements StoreCall<T> {

	private final @Nullable T result;

	private final @Nullable RuntimeException failure;

	private AnsweredStoreCall(@Nullable T result, @Nullable RuntimeException failure) {
		this.result = result;
		this.failure = failure;
	}

	/**
	 * Creates a call with a result.
	 * @param <T> the type of the result
	 * @param result the result
	 * @return the call
	 */
	public static <T> StoreCall<T> of(T result) {
		return new AnsweredStoreCall<>(result, null);
	}

	/**
	 * Creates a call that has failed.
	 * @param <T> the type of the result
	 * @param failure the failure
	 * @return the call
	 */
	public static <T> StoreCall<T> failed(RuntimeException failure) {
		return new AnsweredStoreCall<>(null, failure);
	}

	/**
	 * Makes a call on the current thread.
	 * @param <T> the type of the result
	 * @param call the call
	 * @return the call with its result or failure
	 */
	public static <T> StoreCall<T> by(Supplier<T> call) {
		try {
			return of(call.get());
		}
		catch (RuntimeException ex) {
			return failed(ex);
		}
	}

	@Override
	public boolean isDone() {
		return true;
	}

	@Override
	public T result() {
		if (this.failure != null) {
			throw this.failure;
		}
		if (this.result == null) {
			throw new IllegalStateException("The store returned no result");
		}
		return this.result;
	}

	@Override
	public void onDone(Runnable action) {
		action.run();
	}

	@Override
	public void abandon() {
	}

	@Override
	public boolean mayHaveBeenSent() {
		return !(this.failure instanceof LockProviderException refused) || refused.isEffectUnknown();
	}

}
