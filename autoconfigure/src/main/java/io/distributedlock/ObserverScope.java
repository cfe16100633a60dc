package io.distributedlock;

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

}
