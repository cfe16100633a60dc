package io.distributedlock;

import org.jspecify.annotations.Nullable;

/**
 * What observers of a lock have opened on a thread, such as the span of its hold and the
 * entries of the logging context.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface ObserverScope extends AutoCloseable {

	/**
	 * Restores what the thread had before. Called once, by the thread that opened the
	 * scope, before any scope around it is closed.
	 */
	@Override
	void close();

	/**
	 * Opens the scopes of those who observe a lock on the current thread.
	 * @param lease the handle of the lock
	 * @return what closes them on the same thread, or {@code null} if none observes it
	 */
	static @Nullable ObserverScope open(LockLease lease) {
		return (lease instanceof Source source) ? source.openObserverScope() : null;
	}

	/** Handle of a lock that can be observed. */
	interface Source {

		/**
		 * Opens the scopes of the observers on the current thread.
		 * @return as {@link ObserverScope#open}
		 */
		@Nullable ObserverScope openObserverScope();

	}

}
