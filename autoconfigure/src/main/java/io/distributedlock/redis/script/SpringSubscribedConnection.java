package io.distributedlock.redis.script;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.Subscription;
import org.springframework.data.redis.connection.SubscriptionListener;

import io.distributedlock.provider.LockThreads;

/**
 * A subscribed connection of a factory for another client than Lettuce and Jedis, which
 * blocks: a thread stays in the subscription.
 */
public final class SpringSubscribedConnection implements SubscribedConnection {

	private static final Log logger = LogFactory.getLog(SpringSubscribedConnection.class);

	private final RedisConnection connection;

	private final AtomicBoolean closed = new AtomicBoolean();

	public SpringSubscribedConnection(RedisConnection connection) {
		this.connection = connection;
	}

	@Override
	public void subscribe(List<byte[]> channels, Runnable onSubscribed, BiConsumer<byte[], byte[]> onMessage) {
		this.connection.subscribe(new Listener(channels.size(), onSubscribed, onMessage),
				channels.toArray(byte[][]::new));
	}

	@Override
	public boolean isSubscribed() {
		return this.connection.isSubscribed();
	}

	@Override
	public boolean isOfFormerClient() {
		return false;
	}

	@Override
	public void close() {
		if (this.closed.compareAndSet(false, true)) {
			runOrLog(this.connection::close);
		}
	}

	/**
	 * Ends the subscription on a thread of its own: Spring gives no access to the socket,
	 * and a client may wait for a reply of the server first.
	 */
	@Override
	public void abandon() {
		try {
			LockThreads.factory("redis-unsubscription").newThread(() -> {
				close();
				// Not every client does so when its connection is closed.
				runOrLog(this::unsubscribe);
			}).start();
		}
		catch (OutOfMemoryError ex) {
			logger.debug("There is no thread to close the connection of the subscription", ex);
		}
	}

	private void unsubscribe() {
		Subscription subscription = this.connection.getSubscription();
		if (subscription != null && subscription.isAlive()) {
			subscription.unsubscribe();
		}
	}

	private static void runOrLog(Runnable action) {
		try {
			action.run();
		}
		catch (RuntimeException ex) {
			logger.debug("The subscription could not be ended", ex);
		}
	}

	/** A listener of Spring. */
	private record Listener(int channels, Runnable onSubscribed,
			BiConsumer<byte[], byte[]> onMessage) implements MessageListener, SubscriptionListener {

		@Override
		public void onChannelSubscribed(byte[] channel, long count) {
			if (count == this.channels) {
				this.onSubscribed.run();
			}
		}

		@Override
		public void onMessage(Message message, byte @Nullable [] pattern) {
			this.onMessage.accept(message.getChannel(), message.getBody());
		}

	}

}
