package io.distributedlock.redis.jedis;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import redis.clients.jedis.BinaryJedisPubSub;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

import io.distributedlock.redis.script.SubscribedConnection;

/**
 * A subscribed connection of Jedis, which keeps a thread in the subscription, and keeps
 * the connection open after the factory was stopped.
 * <p>
 * One that has failed is not closed by Spring, which would unsubscribe: Jedis would
 * connect again for that, and the pool would lend a connection with an unread reply.
 */
final class JedisSubscribedConnection implements SubscribedConnection {

	private static final Log logger = LogFactory.getLog(JedisSubscribedConnection.class);

	private final Connection connection;

	private final AutoCloseable lender;

	private final AtomicBoolean closed = new AtomicBoolean();

	private volatile BinaryJedisPubSub subscription = new BinaryJedisPubSub() {
	};

	/**
	 * Whether the connection must not be used again: it is subscribed, or may have an
	 * unread reply.
	 */
	private volatile boolean broken;

	/**
	 * Creates a connection that is not subscribed.
	 * @param lender takes the connection back, and closes one that is broken
	 */
	JedisSubscribedConnection(Connection connection, AutoCloseable lender) {
		this.connection = connection;
		this.lender = lender;
	}

	@Override
	public void subscribe(List<byte[]> channels, Runnable onSubscribed, BiConsumer<byte[], byte[]> onMessage) {
		this.subscription = new BinaryJedisPubSub() {

			@Override
			public void onSubscribe(byte[] confirmed, int count) {
				if (count == channels.size()) {
					onSubscribed.run();
				}
			}

			@Override
			public void onMessage(byte[] from, byte[] body) {
				onMessage.accept(from, body);
			}

		};
		this.broken = true;
		requireReply();
		this.subscription.proceed(this.connection, channels.toArray(byte[][]::new));
		// Jedis also leaves when the thread is interrupted.
		this.broken = isSubscribed();
	}

	/** Jedis waits for the confirmation of a subscription without a time-out. */
	private void requireReply() {
		try {
			this.connection.ping();
		}
		catch (JedisDataException ex) {
			logger.debug("The server denies PING, but replies", ex);
		}
	}

	@Override
	public boolean isSubscribed() {
		return this.subscription.isSubscribed();
	}

	@Override
	public boolean isOfFormerClient() {
		return false;
	}

	@Override
	public void close() {
		if (!this.closed.compareAndSet(false, true)) {
			return;
		}
		try {
			if (this.broken) {
				disconnect();
			}
			this.lender.close();
		}
		catch (Exception ex) {
			logger.debug("The connection of the subscription could not be closed", ex);
		}
	}

	/** Closes the socket, so that the thread that reads from it leaves, then or later. */
	@Override
	public void abandon() {
		this.broken = true;
		disconnect();
	}

	private void disconnect() {
		this.connection.setBroken();
		try {
			this.connection.disconnect();
		}
		catch (JedisException ex) {
			logger.debug("The socket of the subscription could not be closed", ex);
		}
	}

}
