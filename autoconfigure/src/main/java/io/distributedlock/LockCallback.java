package io.distributedlock;

import org.jspecify.annotations.Nullable;

/**
 * Work that is done while a lock is held.
 *
 * @param <T> the result
 * @param <E> the exception that the work may throw
 * @since 0.1.0
 */
@FunctionalInterface
public interface LockCallback<T extends @Nullable Object, E extends Throwable> {

	/**
	 * Does the work.
	 * @param lease the held lock
	 * @return the result
	 * @throws E if the work fails
	 */
	T doWithLock(LockLease lease) throws E;

}
