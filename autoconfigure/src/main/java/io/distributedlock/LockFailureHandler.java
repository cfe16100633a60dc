package io.distributedlock;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

/**
 * Handler of calls of locked methods whose lock was not acquired, for an application that
 * answers all of them in one place. An application has at most one bean of this type;
 * without one the caller gets the exception.
 * <p>
 * It is called where the lock stayed busy with {@link OnBusy#FAIL} and no fallback
 * ({@link LockNotAcquiredException}), and with every policy where the store could not
 * answer before the body started ({@link LockProviderException}, also while the
 * application shuts down). It is not called for a lock that was lost, an interrupted wait
 * or a mistake of the application, nor for exceptions of the body, whatever their types.
 * <p>
 * The body is not run. A handler must not call the method by reflection: it would run
 * without its lock. The method of a publisher fails on a thread that must not block, once
 * for each subscription. Implementations are safe for use by many threads.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface LockFailureHandler {

	/**
	 * Handles a call whose body was not run.
	 * @param failure the reason, which a handler without a result throws again
	 * @param method the method, of the class of the target where that has it
	 * @param target the object that it was called on, possibly a proxy, or {@code null}
	 * @param args the arguments of the call
	 * @return the result of the call. It fits the declared result of the method:
	 * {@code null} only where the result is neither primitive nor a Kotlin type that is
	 * not nullable, and anything for {@code void}. A method that returns a
	 * {@code CompletableFuture}, a {@code CompletionStage} or a publisher gets such an
	 * object, never {@code null}; its values have to be of the type that the method
	 * declares
	 * @throws Throwable what the caller gets instead: an unchecked exception, or a
	 * checked one that the method declares
	 */
	@Nullable Object handleFailure(LockException failure, Method method, @Nullable Object target, @Nullable Object[] args)
			throws Throwable;

}
