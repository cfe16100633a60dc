package io.distributedlock.redis;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.Subscription;

/**
 * The connections of subscriptions: opens them, knows whether they were closed with their
 * client, and ends them. What fails at the end is only logged.
 */
final class SubscribedConnections {

	private static final Log logger = LogFactory.getLog(SubscribedConnections.class);

	private final RedisConnectionFactory factory;

	private final ScriptExecutor executor;

	/**
	 * Creates the connections of a factory.
	 * @param executor the executor over the factory, which knows its client
	 */
	SubscribedConnections(RedisConnectionFactory factory, ScriptExecutor executor) {
		this.factory = factory;
		this.executor = executor;
	}

	/** Opens a connection. Blocks. */
	OpenConnection open() {
		// Before the connection, which may be that of a later client.
		Object client = this.executor.client();
		return new OpenConnection(this.factory.getConnection(), client);
	}

	/**
	 * Whether a connection was closed with its client, since the application has stopped
	 * the factory. Nothing notifies the subscription of that.
	 */
	boolean isOfFormerClient(@Nullable OpenConnection opened) {
		return opened != null && opened.client() != this.executor.client();
	}

	static void close(@Nullable OpenConnection opened) {
		try {
			if (opened != null) {
				opened.connection().close();
			}
		}
		catch (RuntimeException ex) {
			logger.debug("The connection of the subscription could not be closed", ex);
		}
	}

	static void unsubscribe(@Nullable OpenConnection opened) {
		try {
			Subscription subscription = (opened != null) ? opened.connection().getSubscription() : null;
			if (subscription != null && subscription.isAlive()) {
				subscription.unsubscribe();
			}
		}
		catch (RuntimeException ex) {
			logger.debug("The subscription could not be ended", ex);
		}
	}

	/**
	 * A connection that was opened.
	 *
	 * @param connection the connection
	 * @param client the client that opened it, if it was known
	 */
	record OpenConnection(RedisConnection connection, @Nullable Object client) {
	}

}
