package io.distributedlock.redis.lettuce;

import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockTimer;

/**
 * Counter of the connections of a Lettuce client that broke: only after a disconnect does
 * Lettuce send commands without a reply again. It counts neither connections that the
 * application closes nor subscribed ones, on which no scripts run. It does count
 * connections that were opened before {@link #watch}.
 */
public final class DisconnectCounter implements RedisConnectionStateListener, AutoCloseable {

	/** The longest time between the failure of a command and that of its connection. */
	private static final long DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private final AtomicLong count = new AtomicLong();

	/** More than one only after the application restarted its connection factory. */
	private final Set<AbstractRedisClient> watched = Collections
		.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

	private volatile @Nullable AbstractRedisClient last;

	/**
	 * Counts the connections of a client too.
	 * @return whether it is another client than the last one
	 */
	public boolean watch(AbstractRedisClient client) {
		if (this.last == client) {
			return false;
		}
		if (this.watched.add(client)) {
			client.addListener(this);
		}
		this.last = client;
		return true;
	}

	@Override
	public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
		if (!connection.isClosed() && !(connection instanceof StatefulRedisPubSubConnection)) {
			this.count.incrementAndGet();
		}
	}

	public long count() {
		return this.count.get();
	}

	/**
	 * Runs an action after the failure of a command, once the disconnect was counted that
	 * made it fail: that comes a moment later, or never.
	 * @param before the count when the command was sent
	 * @param deadline when the action runs at the latest
	 * @param timer the timer that waits
	 * @param action what to run; must not block
	 */
	void runAfterDisconnect(long before, Deadline deadline, LockTimer timer, Runnable action) {
		runOnceChanged(before, Deadline.afterNanos(DELAY_NANOS).earlier(deadline), timer, action);
	}

	private void runOnceChanged(long before, Deadline end, LockTimer timer, Runnable action) {
		if (count() != before || end.isPast()
				|| timer.trySchedule(() -> runOnceChanged(before, end, timer, action), LOOK_NANOS) == null) {
			action.run();
		}
	}

	/** Stops counting, which counts itself: what follows would not be noticed. */
	@Override
	public void close() {
		synchronized (this.watched) {
			this.watched.forEach((client) -> client.removeListener(this));
			this.watched.clear();
		}
		this.count.incrementAndGet();
	}

}
