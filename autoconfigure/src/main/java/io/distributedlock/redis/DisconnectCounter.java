package io.distributedlock.redis;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;

/**
 * Counter of the connections of a Lettuce client that broke: only after a disconnect does
 * Lettuce send commands without a reply again. It counts neither connections that the
 * application closes nor subscribed ones, on which no scripts run. It does count
 * connections that were opened before {@link #watch}.
 */
final class DisconnectCounter implements RedisConnectionStateListener, AutoCloseable {

	private final AtomicLong count = new AtomicLong();

	/** More than one only after the application restarted its connection factory. */
	private final Set<AbstractRedisClient> watched = ConcurrentHashMap.newKeySet();

	void watch(AbstractRedisClient client) {
		if (this.watched.add(client)) {
			client.addListener(this);
		}
	}

	@Override
	public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
		if (!connection.isClosed() && !(connection instanceof StatefulRedisPubSubConnection)) {
			this.count.incrementAndGet();
		}
	}

	long count() {
		return this.count.get();
	}

	@Override
	public void close() {
		this.watched.forEach((client) -> client.removeListener(this));
		this.watched.clear();
	}

}
