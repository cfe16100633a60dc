package io.distributedlock.provider;

/**
 * A call to a store, which is under way or done. A store with an asynchronous client
 * returns a call that is under way, so that several are under way together. One with a
 * blocking driver works on the calling thread, ends within the time-out that it was
 * given, and returns a call that is done.
 * <p>
 * The engine bounds calls that are under way: at the end of their time it
 * {@linkplain #abandon() abandons} them. Safe for use by many threads.
 *
 * @param <T> the type of the result
 * @since 0.1.0
 */
public interface StoreCall<T> {

	/**
	 * Returns whether there is a result or a failure.
	 * @return {@code false} while the call is under way
	 */
	boolean isDone();

	/**
	 * Returns the result.
	 * @return the result
	 * @throws io.distributedlock.LockException if the store could not answer
	 * @throws IllegalStateException if the call is under way
	 */
	T result();

	/**
	 * Registers the action that follows the call. It runs once, on the thread that ends
	 * the call, or at once if the call is done. Called once at most.
	 * @param action what to run; quick, without waiting
	 */
	void onDone(Runnable action);

	/**
	 * Gives up a call that is under way: nobody waits for its result any more, and it is
	 * never done. The client does not send the command if it has not done so, nor again.
	 * The action that was registered may run or not. Does nothing to a call that is done.
	 */
	void abandon();

	/**
	 * Returns whether the store may have received the command.
	 * @return {@code false} only if it has not received it and never will
	 */
	boolean mayHaveBeenSent();

}
