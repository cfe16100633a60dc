package io.distributedlock.redis;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.script.RedisTimer;

/**
 * The waits of attempts until the subscription has become active or has failed, during
 * which no thread is parked. Safe for use by many threads.
 */
final class SubscriptionWaiters {

	private static final Log logger = LogFactory.getLog(SubscriptionWaiters.class);

	private final RedisTimer timer;

	private final Set<Waiter> waiting = ConcurrentHashMap.newKeySet();

	SubscriptionWaiters(RedisTimer timer) {
		this.timer = timer;
	}

	/**
	 * Creates a waiter that has not been added.
	 * @param action what follows the wait; must not block
	 */
	Waiter newWaiter(Runnable action) {
		return new Waiter(action);
	}

	/** Adds a waiter that the next {@link #endAll()} ends. */
	void add(Waiter waiter) {
		this.waiting.add(waiter);
	}

	/** Ends all waits, on the current thread. Not to be called under a lock. */
	void endAll() {
		this.waiting.forEach(Waiter::end);
	}

	/** A wait that ends once, or is cancelled. */
	public final class Waiter {

		private final AtomicReference<@Nullable Runnable> action;

		private volatile @Nullable Future<?> timeout;

		private Waiter(Runnable action) {
			this.action = new AtomicReference<>(action);
		}

		/** Ends the wait at a deadline unless it ends before. */
		void endAt(Deadline deadline) {
			Future<?> pending = SubscriptionWaiters.this.timer.schedule(this::end, deadline.remainingNanos());
			this.timeout = pending;
			if (pending == null) {
				end();
			}
			else if (this.action.get() == null) {
				leave(pending);
			}
		}

		/** Ends the wait now: runs the action, whose failure is only logged. */
		void end() {
			Runnable next = this.action.getAndSet(null);
			leave(this.timeout);
			if (next != null) {
				try {
					next.run();
				}
				catch (RuntimeException | Error ex) {
					logger.error("What follows the wait for a subscription has failed", ex);
				}
			}
		}

		/** Ends the wait now without the action. */
		void cancel() {
			if (this.action.getAndSet(null) != null) {
				leave(this.timeout);
			}
		}

		private void leave(@Nullable Future<?> pending) {
			SubscriptionWaiters.this.waiting.remove(this);
			if (pending != null) {
				pending.cancel(false);
			}
		}

	}

}
