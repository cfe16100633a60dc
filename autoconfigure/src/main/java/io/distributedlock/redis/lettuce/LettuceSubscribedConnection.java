package io.distributedlock.redis.lettuce;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.SubscribedConnection;

/**
 * A subscribed connection that Lettuce's client opened, beside those of its factory: a
 * subscription of Spring waits for the server when it is closed. Lettuce subscribes again
 * by itself after it has connected again.
 */
public final class LettuceSubscribedConnection implements SubscribedConnection {

	/** The longest wait for the server's confirmation. */
	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private final StatefulRedisPubSubConnection<byte[], byte[]> connection;

	private final AbstractRedisClient client;

	private final Supplier<? extends @Nullable Object> present;

	private final AtomicBoolean closed = new AtomicBoolean();

	private volatile boolean subscribed;

	private LettuceSubscribedConnection(StatefulRedisPubSubConnection<byte[], byte[]> connection,
			AbstractRedisClient client, Supplier<? extends @Nullable Object> present) {
		this.connection = connection;
		this.client = client;
		this.present = present;
	}

	/**
	 * Opens a connection.
	 * @param client the client
	 * @param present returns the present client of the application's factory
	 * @throws UnsupportedOperationException if the factory has a static master/replica
	 * configuration
	 */
	public static SubscribedConnection open(AbstractRedisClient client, Supplier<? extends @Nullable Object> present) {
		return new LettuceSubscribedConnection(connect(client), client, present);
	}

	private static StatefulRedisPubSubConnection<byte[], byte[]> connect(AbstractRedisClient client) {
		try {
			return (client instanceof RedisClusterClient cluster) ? cluster.connectPubSub(ByteArrayCodec.INSTANCE)
					: ((RedisClient) client).connectPubSub(ByteArrayCodec.INSTANCE);
		}
		catch (IllegalStateException ex) {
			if (LettuceClient.isWithoutServer(ex)) {
				throw new UnsupportedOperationException(
						"Lettuce does not subscribe with a static master/replica configuration", ex);
			}
			throw ex;
		}
	}

	@Override
	public void subscribe(List<byte[]> channels, Runnable onSubscribed, BiConsumer<byte[], byte[]> onMessage) {
		this.connection.addListener(new RedisPubSubAdapter<byte[], byte[]>() {

			@Override
			public void subscribed(byte[] confirmed, long count) {
				if (count == channels.size()) {
					LettuceSubscribedConnection.this.subscribed = true;
					onSubscribed.run();
				}
			}

			@Override
			public void message(byte[] from, byte[] body) {
				onMessage.accept(from, body);
			}

		});
		try {
			LettuceCommands.await(this.connection.async().subscribe(channels.toArray(byte[][]::new)), CallKind.ACQUIRE,
					Deadline.after(TIMEOUT));
			// The listener may be called only after that.
			this.subscribed = true;
		}
		catch (TimeoutException ex) {
			throw RedisErrors.timedOut(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw RedisErrors.interrupted(ex);
		}
	}

	@Override
	public boolean isSubscribed() {
		return this.subscribed;
	}

	@Override
	public boolean isOfFormerClient() {
		return this.client != this.present.get();
	}

	/** Without effect if the factory was stopped, which has closed it. */
	@Override
	public void close() {
		if (this.closed.compareAndSet(false, true) && !isOfFormerClient()) {
			this.connection.closeAsync();
		}
	}

	@Override
	public void abandon() {
		close();
	}

}
