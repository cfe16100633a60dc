package io.distributedlock.redis;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.Subscription;
import org.springframework.data.redis.connection.SubscriptionListener;

import io.distributedlock.provider.LockThreads;

/**
 * This process's one channel, on which it is told that a lock is reserved for it. Opened
 * when somebody first has to wait; one that breaks is opened again, by Lettuce itself or
 * by the next who waits. Jedis keeps a thread in the subscription, Lettuce does not.
 * <p>
 * Messages are hints. After the channel was opened again every waiter looks once, for
 * what was sent meanwhile is lost.
 */
final class NotificationSubscription implements MessageListener, SubscriptionListener, AutoCloseable {

	private static final Log logger = LogFactory.getLog(NotificationSubscription.class);

	private static final long FAILURE_PAUSE = TimeUnit.MILLISECONDS.toNanos(250);

	private static final long REFUSAL_PAUSE = TimeUnit.MINUTES.toNanos(1);

	private final RedisConnectionFactory factory;

	private final String channel;

	private final RedisContenderRegistry waiting;

	private final Consumer<String> nobodyWaits;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	private volatile State state = State.IDLE;

	/** Not opened again before this, after it failed. */
	private long notBefore = System.nanoTime();

	private boolean warned;

	private @Nullable RedisConnection connection;

	/**
	 * Creates an inbox, not yet open.
	 * @param nobodyWaits told the name of a lock that was reserved though nobody in this
	 * process waits for it; must not block
	 */
	NotificationSubscription(RedisConnectionFactory factory, String channel, RedisContenderRegistry waiting,
			Consumer<String> nobodyWaits) {
		this.factory = factory;
		this.channel = channel;
		this.waiting = waiting;
		this.nobodyWaits = nobodyWaits;
	}

	/** Whether what is sent to the channel arrives here, as far as is known. */
	boolean isOpen() {
		return this.state == State.OPEN;
	}

	/**
	 * Sees to it that the inbox is open.
	 * @param deadline until when to wait for that
	 * @return whether it is open; if not, waiters have to poll for now
	 */
	boolean open(long deadline) {
		this.lock.lock();
		try {
			if (this.state == State.IDLE && this.notBefore - System.nanoTime() <= 0) {
				this.state = State.OPENING;
				start();
			}
			long left = deadline - System.nanoTime();
			while (this.state == State.OPENING && left > 0) {
				left = this.changed.awaitNanos(left);
			}
			return this.state == State.OPEN;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw RedisErrors.interrupted(ex);
		}
		finally {
			this.lock.unlock();
		}
	}

	private void start() {
		try {
			LockThreads.factory("redis-inbox").newThread(this::run).start();
		}
		catch (OutOfMemoryError ex) {
			ended(ex);
		}
	}

	/** Returns at once with Lettuce, and with Jedis when the subscription has ended. */
	private void run() {
		try {
			RedisConnection opened = this.factory.getConnection();
			if (!use(opened)) {
				opened.close();
				return;
			}
			opened.subscribe(this, this.channel.getBytes(StandardCharsets.UTF_8));
			if (!opened.isSubscribed()) {
				ended(null);
			}
		}
		catch (RuntimeException | Error ex) {
			ended(ex);
		}
	}

	private boolean use(RedisConnection opened) {
		this.lock.lock();
		try {
			if (this.state == State.CLOSED) {
				return false;
			}
			this.connection = opened;
			return true;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void ended(@Nullable Throwable ex) {
		boolean refused = ex != null && RedisErrors.isDenied(ex);
		RedisConnection broken;
		boolean warn;
		this.lock.lock();
		try {
			if (this.state == State.CLOSED) {
				return;
			}
			broken = this.connection;
			this.connection = null;
			this.state = State.IDLE;
			this.notBefore = System.nanoTime() + (refused ? REFUSAL_PAUSE : FAILURE_PAUSE);
			warn = refused && !this.warned;
			this.warned |= refused;
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
		if (warn) {
			logger.warn("Redis refuses to let this application subscribe to '" + this.channel
					+ "': those who wait for a lock poll for it, later than they could have it", ex);
		}
		else {
			logger.debug("The inbox of the locks was closed", ex);
		}
		close(broken);
	}

	@Override
	public void onChannelSubscribed(byte[] subscribed, long count) {
		this.lock.lock();
		try {
			if (this.state == State.CLOSED) {
				return;
			}
			this.state = State.OPEN;
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
		this.waiting.signalAll();
	}

	@Override
	public void onMessage(Message message, byte @Nullable [] pattern) {
		String reserved = new String(message.getBody(), StandardCharsets.UTF_8);
		if (!this.waiting.signal(reserved)) {
			this.nobodyWaits.accept(reserved);
		}
	}

	@Override
	public void close() {
		RedisConnection open;
		this.lock.lock();
		try {
			this.state = State.CLOSED;
			open = this.connection;
			this.connection = null;
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
		close(open);
	}

	private static void close(@Nullable RedisConnection open) {
		if (open == null) {
			return;
		}
		try {
			Subscription subscription = open.getSubscription();
			if (subscription != null && subscription.isAlive()) {
				subscription.unsubscribe();
			}
			open.close();
		}
		catch (RuntimeException ex) {
			logger.debug("The connection of the inbox could not be closed", ex);
		}
	}

	private enum State {

		IDLE, OPENING, OPEN, CLOSED

	}

}
