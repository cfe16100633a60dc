package io.distributedlock.provider;

import java.util.function.Function;

/**
 * A call whose result is translated for whoever asks for it.
 *
 * @param <S> the type of the other call's result
 * @param <T> the type of the result
 * @since 0.1.0
 */
public final class MappedStoreCall<S, T> implements StoreCall<T> {

	private final StoreCall<S> call;

	private final Function<? super S, ? extends T> translation;

	private MappedStoreCall(StoreCall<S> call, Function<? super S, ? extends T> translation) {
		this.call = call;
		this.translation = translation;
	}

	/**
	 * Creates the call.
	 * @param <S> the type of the other call's result
	 * @param <T> the type of the result
	 * @param call the call to the store
	 * @param translation translates its result, each time that it is asked for; may throw
	 * @return the call with the translated result
	 */
	public static <S, T> StoreCall<T> of(StoreCall<S> call, Function<? super S, ? extends T> translation) {
		return new MappedStoreCall<>(call, translation);
	}

	@Override
	public boolean isDone() {
		return this.call.isDone();
	}

	@Override
	public T result() {
		return this.translation.apply(this.call.result());
	}

	@Override
	public void onDone(Runnable action) {
		this.call.onDone(action);
	}

	@Override
	public void abandon() {
		this.call.abandon();
	}

	@Override
	public boolean mayHaveBeenSent() {
		return this.call.mayHaveBeenSent();
	}

}
