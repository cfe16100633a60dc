package io.distributedlock.redis;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.SubscriptionListener;

import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockThreads;
import io.distributedlock.redis.SubscribedConnections.OpenConnection;

/**
 * This process's subscription to its one channel, on which it is notified of locks that
 * are reserved for it. The subscription begins with the first contender that has to wait.
 * After a broken connection Lettuce subscribes again by itself. With Jedis, and after the
 * connection factory was stopped and started, the next waiting contender subscribes
 * again. Jedis keeps a thread in the subscription, Lettuce does not.
 * <p>
 * Notifications are hints. Each time the subscription becomes active it signals all
 * contenders, since earlier notifications may be lost. Safe for use by many threads.
 */
final class NotificationSubscription implements MessageListener, SubscriptionListener, AutoCloseable {

	/** How long the end waits for a subscription that has just begun. */
	private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final SubscribedConnections connections;

	private final String channel;

	private final RedisContenderRegistry contenders;

	private final Consumer<String> unwanted;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	private final SubscriptionWaiters waiters;

	private final SubscriptionPause pause;

	/** Written under the lock, as the connection is. */
	private volatile State state = State.IDLE;

	private volatile @Nullable OpenConnection connection;

	/**
	 * The thread inside the client's call, or {@code null}. It closes its connection
	 * itself if the end comes before: a client may wait for a minute in a call whose
	 * connection another thread has closed.
	 */
	private @Nullable Thread subscriber;

	/**
	 * Whether that thread stays in the call after the server's confirmation, until
	 * somebody unsubscribes: once, since a second reply would be left on a connection of
	 * the pool.
	 */
	private boolean staying;

	private boolean unsubscribed;

	/**
	 * Creates a subscription that is not active.
	 * @param contenders the contenders to signal
	 * @param unwanted receives the name of a lock that was reserved although no contender
	 * of this process waits for it; must not block
	 */
	NotificationSubscription(SubscribedConnections connections, String channel, RedisContenderRegistry contenders,
			SubscriptionWaiters waiters, Consumer<String> unwanted) {
		this.connections = connections;
		this.channel = channel;
		this.contenders = contenders;
		this.waiters = waiters;
		this.unwanted = unwanted;
		this.pause = new SubscriptionPause(channel);
	}

	/** Adds a contender that a notification for its lock signals. */
	void register(RedisContenderRegistry.Contender contender) {
		this.contenders.add(contender);
	}

	/** Removes a contender. */
	void unregister(RedisContenderRegistry.Contender contender) {
		this.contenders.remove(contender);
	}

	/** Whether notifications arrive, as far as this process knows. */
	boolean isActive() {
		return this.state == State.ACTIVE && !this.connections.isOfFormerClient(this.connection);
	}

	/** Creates a wait for a subscription, which an action follows. */
	SubscriptionWaiters.Waiter newWaiter(Runnable action) {
		return this.waiters.newWaiter(action);
	}

	/**
	 * Subscribes unless the subscription is active, without waiting.
	 * @param waiter ended once the subscription is active or has failed, or does not
	 * begin
	 * @param end when the wait ends at the latest
	 */
	void activate(SubscriptionWaiters.Waiter waiter, Deadline end) {
		// Before the look at the state, whose next change ends all waits.
		this.waiters.add(waiter);
		begin();
		if (this.state == State.SUBSCRIBING) {
			waiter.endAt(end);
		}
		else {
			waiter.end();
		}
	}

	private void begin() {
		OutOfMemoryError failure = null;
		this.lock.lock();
		try {
			boolean lost = this.state == State.ACTIVE && !isActive();
			if (lost || (this.state == State.IDLE && this.pause.isOver())) {
				this.state = State.SUBSCRIBING;
				this.connection = null;
				failure = startThread();
			}
		}
		finally {
			this.lock.unlock();
		}
		if (failure != null) {
			deactivate(failure);
		}
	}

	private @Nullable OutOfMemoryError startThread() {
		try {
			Thread thread = LockThreads.factory("redis-subscription").newThread(this::subscribe);
			this.subscriber = thread;
			this.staying = false;
			this.unsubscribed = false;
			thread.start();
			return null;
		}
		catch (OutOfMemoryError ex) {
			this.subscriber = null;
			return ex;
		}
	}

	/** Returns at once with Lettuce, and with Jedis when the subscription has ended. */
	private void subscribe() {
		try {
			OpenConnection opened = this.connections.open();
			if (!keep(opened)) {
				SubscribedConnections.close(opened);
				return;
			}
			opened.connection().subscribe(this, this.channel.getBytes(StandardCharsets.UTF_8));
			if (!opened.connection().isSubscribed()) {
				deactivate(null);
			}
		}
		catch (RuntimeException | Error ex) {
			deactivate(ex);
		}
		finally {
			SubscribedConnections.close(left());
		}
	}

	/**
	 * Records that the thread has left the client's call.
	 * @return its connection if the end came before
	 */
	private @Nullable OpenConnection left() {
		this.lock.lock();
		try {
			if (Thread.currentThread() != this.subscriber) {
				return null;
			}
			this.subscriber = null;
			this.changed.signalAll();
			if (this.state != State.CLOSED) {
				return null;
			}
			OpenConnection open = this.connection;
			this.connection = null;
			return open;
		}
		finally {
			this.lock.unlock();
		}
	}

	private boolean keep(OpenConnection opened) {
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

	private void deactivate(@Nullable Throwable ex) {
		OpenConnection broken;
		Runnable report;
		this.lock.lock();
		try {
			// A thread that was replaced leaves the next subscription alone.
			boolean replaced = this.subscriber != null && Thread.currentThread() != this.subscriber;
			if (replaced || this.state == State.CLOSED) {
				return;
			}
			broken = this.connection;
			this.connection = null;
			this.state = State.IDLE;
			report = this.pause.begin(ex);
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
		report.run();
		this.waiters.endAll();
		SubscribedConnections.close(broken);
	}

	@Override
	public void onChannelSubscribed(byte[] subscribed, long count) {
		OpenConnection late = null;
		this.lock.lock();
		try {
			this.staying = Thread.currentThread() == this.subscriber;
			if (this.state == State.CLOSED) {
				late = toUnsubscribe();
			}
			else if (this.connection != null) {
				// Else the subscription was given up before the server confirmed it.
				this.state = State.ACTIVE;
				this.pause.reset();
			}
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
		SubscribedConnections.unsubscribe(late);
		this.contenders.signalAll();
		this.waiters.endAll();
	}

	@Override
	public void onMessage(Message message, byte @Nullable [] pattern) {
		String lockName = new String(message.getBody(), StandardCharsets.UTF_8);
		if (!this.contenders.signal(lockName)) {
			this.unwanted.accept(lockName);
		}
	}

	/**
	 * Ends the subscription. One that the server has not confirmed in time ends by itself
	 * as soon as it is confirmed or fails.
	 */
	@Override
	public void close() {
		OpenConnection active = null;
		OpenConnection open = null;
		this.lock.lock();
		try {
			this.state = State.CLOSED;
			this.changed.signalAll();
			awaitSubscriber();
			if (this.subscriber == null) {
				open = this.connection;
				this.connection = null;
			}
			else if (this.staying) {
				active = toUnsubscribe();
			}
			else {
				this.subscriber.interrupt();
			}
		}
		finally {
			this.lock.unlock();
		}
		this.waiters.endAll();
		SubscribedConnections.unsubscribe(active);
		SubscribedConnections.close(open);
	}

	/** Returns the connection on which the caller has to unsubscribe, if any. */
	private @Nullable OpenConnection toUnsubscribe() {
		if (!this.staying || this.unsubscribed) {
			return null;
		}
		this.unsubscribed = true;
		return this.connection;
	}

	private void awaitSubscriber() {
		long leftNanos = CLOSE_NANOS;
		try {
			while (this.subscriber != null && !this.staying && leftNanos > 0) {
				leftNanos = this.changed.awaitNanos(leftNanos);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private enum State {

		IDLE, SUBSCRIBING, ACTIVE, CLOSED

	}

}
