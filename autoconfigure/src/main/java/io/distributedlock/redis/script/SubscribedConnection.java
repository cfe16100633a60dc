package io.distributedlock.redis.script;

import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * A connection of its own on which the server notifies this process. What fails at its
 * end is only logged.
 */
public interface SubscribedConnection {

	/**
	 * Subscribes to a channel. Returns when the server has confirmed it, or, with a
	 * client that blocks, when the subscription has ended.
	 * @param onSubscribed runs each time the server confirms it; must not block
	 * @param onMessage receives each message; must not block
	 * @throws RuntimeException if the subscription fails, or ends by a failure
	 */
	void subscribe(byte[] channel, Runnable onSubscribed, Consumer<byte[]> onMessage);

	/** Whether the server has confirmed the subscription and it has not ended. */
	boolean isSubscribed();

	/**
	 * Whether the connection was closed with its client, since the application has
	 * stopped the connection factory. Nothing notifies the subscription of that.
	 */
	boolean isOfFormerClient();

	/** Ends the subscription, for which a thread may stay in {@link #subscribe}. */
	void unsubscribe();

	/**
	 * Closes the connection, on whose subscription no thread stays. Without effect on one
	 * that is closed.
	 */
	void close();

	/**
	 * Closes the connection without waiting for the server, which does not seem to reply
	 * on it. A thread that stays in {@link #subscribe} leaves, if the client allows it.
	 */
	void abandon();

	/** Closes a connection if there is one. */
	static void closeIfAny(@Nullable SubscribedConnection connection) {
		if (connection != null) {
			connection.close();
		}
	}

	/** Opens connections. */
	interface Source {

		/**
		 * Opens a connection. Blocks.
		 * @throws RuntimeException if the server cannot be reached
		 */
		SubscribedConnection open();

	}

}
