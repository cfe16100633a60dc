package io.distributedlock.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockThreads;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.redis.script.SubscribedConnection;

/**
 * This process's subscription to its two channels, on which it is notified of locks that
 * are reserved for it, and of shares that may be free. The subscription begins with the
 * first contender that has to wait. After a broken connection Lettuce subscribes again by
 * itself. With Jedis, and after the connection factory was stopped and started, the next
 * waiting contender subscribes again. A contender that was not notified
 * {@linkplain #replace() replaces} a connection on which nothing arrives any more. Jedis
 * keeps a thread in the subscription.
 * <p>
 * Notifications are hints. Each time the subscription becomes active it signals all
 * contenders, since earlier notifications may be lost. Safe for use by many threads.
 */
final class NotificationSubscription implements AutoCloseable {

	/** How long the end waits for the thread of the subscription. */
	private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);

	private final Supplier<SubscribedConnection> connections;

	private final List<byte[]> channels;

	private final Runnable onSubscribed;

	private final BiConsumer<byte[], byte[]> messages;

	private final ReentrantLock lock = new ReentrantLock();

	private final LockTimer timer;

	/** The waits of attempts until this is active or has failed; no thread is parked. */
	private final Set<CompletableFuture<@Nullable Void>> waits = ConcurrentHashMap.newKeySet();

	private final SubscriptionPause pause;

	/** Written under the lock, as the connection is. */
	private volatile State state = State.IDLE;

	private volatile @Nullable SubscribedConnection connection;

	/** The thread that subscribed last, and stays if the client blocks. */
	private @Nullable Thread subscriber;

	/**
	 * Creates a subscription that is not active.
	 * @param messages receives the channel and the text of each message, also late ones
	 * of a connection that was replaced; must not block
	 * @param onSubscribed runs each time the subscription becomes active; must not block
	 */
	NotificationSubscription(Supplier<SubscribedConnection> connections, List<String> channels,
			BiConsumer<byte[], byte[]> messages, Runnable onSubscribed, LockTimer timer) {
		this.connections = connections;
		this.channels = channels.stream().map((channel) -> channel.getBytes(StandardCharsets.UTF_8)).toList();
		this.onSubscribed = onSubscribed;
		this.timer = timer;
		this.messages = messages;
		this.pause = new SubscriptionPause(channels.get(0));
	}

	/** Whether notifications arrive, as far as this process knows. */
	boolean isActive() {
		SubscribedConnection present = this.connection;
		return this.state == State.ACTIVE && (present == null || !present.isOfFormerClient());
	}

	/** Whether it is not active, but is about to be, or begins with the next waiter. */
	boolean isPending() {
		return !isActive() && this.state != State.CLOSED && (this.state != State.IDLE || this.pause.isOver());
	}

	/**
	 * Subscribes unless the subscription is active, without waiting.
	 * @param end when the wait for it ends at the latest
	 * @return the wait, which ends once the subscription is active or has failed, or does
	 * not begin; what follows it must not block
	 */
	@SuppressWarnings("CollectionUndefinedEquality") // compared by identity
	CompletableFuture<@Nullable Void> activate(Deadline end) {
		CompletableFuture<@Nullable Void> wait = new CompletableFuture<>();
		// Before the look at the state, whose next change ends all waits.
		this.waits.add(wait);
		begin();
		Future<?> timeout = (this.state == State.SUBSCRIBING)
				? this.timer.trySchedule(() -> wait.complete(null), end.remainingNanos()) : null;
		wait.whenComplete((done, ex) -> {
			this.waits.remove(wait);
			if (timeout != null) {
				timeout.cancel(false);
			}
		});
		if (timeout == null) {
			wait.complete(null);
		}
		return wait;
	}

	/** Ends all waits, on the current thread. Not to be called under the lock. */
	private void endWaits() {
		this.waits.forEach((wait) -> wait.complete(null));
	}

	/** Subscribes unless the subscription is active; nobody waits for it. */
	void begin() {
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
			deactivate(null, failure);
		}
	}

	/**
	 * Subscribes on another connection, since a notification did not arrive on this one:
	 * it may have been cut without a word. Once a second at most, and less often while
	 * nothing arrives on the others either.
	 */
	void replace() {
		SubscribedConnection silent;
		OutOfMemoryError failure;
		this.lock.lock();
		try {
			silent = this.connection;
			if (this.state != State.ACTIVE || silent == null || !this.pause.isOver()) {
				return;
			}
			this.state = State.SUBSCRIBING;
			this.connection = null;
			this.pause.beginAfterLoss();
			failure = startThread();
		}
		finally {
			this.lock.unlock();
		}
		if (failure != null) {
			deactivate(null, failure);
		}
		silent.abandon();
	}

	private @Nullable OutOfMemoryError startThread() {
		try {
			this.subscriber = LockThreads.factory("redis-subscription").newThread(this::subscribe);
			this.subscriber.start();
			return null;
		}
		catch (OutOfMemoryError ex) {
			this.subscriber = null;
			return ex;
		}
	}

	/** Returns soon with Lettuce, and with Jedis when the subscription has ended. */
	private void subscribe() {
		SubscribedConnection opened = null;
		Throwable failure = null;
		try {
			opened = this.connections.get();
			if (keep(opened)) {
				SubscribedConnection confirmed = opened;
				opened.subscribe(this.channels, () -> subscribed(confirmed),
						this.messages.andThen(this.pause::recordMessage));
			}
		}
		catch (RuntimeException | Error ex) {
			failure = ex;
		}
		if (opened == null || failure != null || this.connection != opened || !opened.isSubscribed()) {
			deactivate(opened, failure);
			if (opened != null) {
				opened.close();
			}
		}
	}

	/** Returns whether the end has not come before the connection was open. */
	private boolean keep(SubscribedConnection opened) {
		this.lock.lock();
		try {
			if (this.state != State.CLOSED) {
				this.connection = opened;
			}
			return this.state != State.CLOSED;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Records the end of a subscription, unless another one has replaced it.
	 * @param ended its connection, or {@code null} if none was opened
	 */
	private void deactivate(@Nullable SubscribedConnection ended, @Nullable Throwable ex) {
		Runnable report;
		this.lock.lock();
		try {
			if (this.connection != ended || this.state == State.CLOSED) {
				return;
			}
			this.connection = null;
			this.state = State.IDLE;
			report = this.pause.begin(ex);
		}
		finally {
			this.lock.unlock();
		}
		report.run();
		endWaits();
	}

	private void subscribed(SubscribedConnection confirmed) {
		boolean current;
		this.lock.lock();
		try {
			current = confirmed == this.connection;
			if (current) {
				this.state = State.ACTIVE;
				this.pause.reset();
			}
		}
		finally {
			this.lock.unlock();
		}
		if (!current) {
			// Given up before, it may have connected again for this subscription.
			confirmed.abandon();
			return;
		}
		this.onSubscribed.run();
		endWaits();
	}

	/**
	 * Ends the subscription. A connection that is not open in time is closed as soon as
	 * it is.
	 */
	@Override
	public void close() {
		SubscribedConnection open;
		Thread thread;
		this.lock.lock();
		try {
			this.state = State.CLOSED;
			open = this.connection;
			this.connection = null;
			thread = this.subscriber;
		}
		finally {
			this.lock.unlock();
		}
		endWaits();
		if (open != null) {
			open.abandon();
		}
		if (thread != null) {
			awaitEnd(thread);
		}
	}

	private static void awaitEnd(Thread subscriber) {
		try {
			subscriber.join(CLOSE_TIMEOUT.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		subscriber.interrupt();
	}

	private enum State {

		IDLE, SUBSCRIBING, ACTIVE, CLOSED

	}

}
