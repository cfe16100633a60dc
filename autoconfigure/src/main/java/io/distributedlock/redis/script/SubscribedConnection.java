package io.distributedlock.redis.script;

import java.util.List;
import java.util.function.BiConsumer;

/**
 * A connection of its own on which the server notifies this process. What fails at its
 * end is only logged.
 */
public interface SubscribedConnection {

	/**
	 * Subscribes to channels. Returns when the server has confirmed it, or, with a client
	 * that blocks, when the subscription has ended.
	 * @param onSubscribed runs each time the server has confirmed all; must not block
	 * @param onMessage receives the channel and the text of each message; must not block
	 * @throws RuntimeException if the subscription fails, or ends by a failure
	 */
	void subscribe(List<byte[]> channels, Runnable onSubscribed, BiConsumer<byte[], byte[]> onMessage);

	/** Whether the server has confirmed the subscription and it has not ended. */
	boolean isSubscribed();

	/**
	 * Whether the connection was closed with its client, since the application has
	 * stopped the connection factory. Nothing notifies the subscription of that.
	 */
	boolean isOfFormerClient();

	/**
	 * Closes the connection, on whose subscription no thread stays. Without effect on one
	 * that is closed.
	 */
	void close();

	/**
	 * Ends the subscription without waiting for the server, which may not reply any more.
	 * A thread that stays in {@link #subscribe} leaves, if the client allows it, and
	 * closes the connection.
	 */
	void abandon();

}
