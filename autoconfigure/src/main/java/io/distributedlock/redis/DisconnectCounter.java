package io.distributedlock.redis;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;

/**
 * Counts how often a connection of a Lettuce client broke: only then does Lettuce send
 * unanswered commands again. Connections that the application closes do not count, and no
 * scripts run on those that are subscribed. Connections that were open before the client
 * was watched do count.
 */
final class DisconnectCounter implements RedisConnectionStateListener, AutoCloseable {

	private final AtomicLong count = new AtomicLong();

	/** More than one only after the application has restarted its connection factory. */
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
