package io.distributedlock.support;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.LockListener;
import io.distributedlock.LossReason;
import io.distributedlock.provider.LockObserver;
import io.distributedlock.provider.LockObserver.AcquireOutcome;
import io.distributedlock.provider.LockThreads;
import io.distributedlock.provider.RenewalOutcome;

/**
 * The publisher of events: it calls observers at once, and listeners on the callback
 * threads. Neither can break a lock, and listeners cannot delay one.
 */
final class LockEventPublisher {

	private static final Log logger = LogFactory.getLog(LockEventPublisher.class);

	private static final int THREADS = 8;

	/** Notifications for slow listeners beyond this number are dropped. */
	private static final int MAX_PENDING = 10_000;

	private final List<LockObserver> observers;

	private final List<LockListener> listeners;

	private final ThreadPoolExecutor callbacks;

	private final ThreadPoolExecutor completions;

	private final AtomicInteger pending = new AtomicInteger();

	LockEventPublisher(String provider, List<LockObserver> observers, List<LockListener> listeners) {
		this.observers = List.copyOf(observers);
		this.listeners = List.copyOf(listeners);
		this.callbacks = LockThreads.pool(provider + "-callback", THREADS);
		this.completions = LockThreads.pool(provider + "-completion", THREADS);
	}

	/** Creates a queue whose tasks run one after the other on the callback threads. */
	SerialQueue newQueue() {
		return new SerialQueue(this.callbacks);
	}

	/** Completes a future on a thread that may run code of the application. */
	void complete(Runnable completion) {
		this.completions.execute(completion);
	}

	/**
	 * Ends each thread as soon as it is idle. Events of bodies that are still running get
	 * a new one.
	 */
	void close() {
		this.callbacks.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
		this.completions.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
	}

	void acquireEnded(LockKey key, AcquireOutcome outcome, long tookNanos) {
		if (!this.observers.isEmpty()) {
			Duration took = Duration.ofNanos(tookNanos);
			observe((observer) -> observer.onAcquireEnd(key, outcome, took));
		}
	}

	void holdBegan(SingleKeyLease lease) {
		if (!this.observers.isEmpty()) {
			observe((observer) -> observer.onHoldStart(lease.key()));
		}
		if (!this.listeners.isEmpty()) {
			notifyListeners(lease.callbacks(), (listener) -> listener.onAcquired(lease));
		}
	}

	void released(SingleKeyLease lease) {
		if (!this.observers.isEmpty()) {
			observe((observer) -> observer.onHoldEnd(lease.key()));
		}
		if (!this.listeners.isEmpty()) {
			notifyListeners(lease.callbacks(), (listener) -> listener.onReleased(lease));
		}
	}

	void lost(SingleKeyLease lease, LossReason reason) {
		lease.callbacks().execute(() -> observe((observer) -> {
			observer.onLost(lease.key(), reason);
			observer.onHoldEnd(lease.key());
		}));
		this.completions.execute(() -> logger.error("Lock '" + lease.key() + "' with fencing token "
				+ lease.fencingToken() + " was lost: " + reason.description()
				+ ". Its holder may still be working; only a fenced resource is protected from it"));
		if (!this.listeners.isEmpty()) {
			lease.callbacks()
				.execute(() -> this.listeners.forEach((listener) -> callSafely(() -> listener.onLost(lease, reason))));
		}
	}

	void busy(LockKey key, long waitedNanos, @Nullable LockHolder holder) {
		if (!this.listeners.isEmpty()) {
			Duration waited = Duration.ofNanos(waitedNanos);
			notifyListeners(newQueue(), (listener) -> listener.onBusy(key, waited, holder));
		}
	}

	void renewed(LockKey key, RenewalOutcome outcome) {
		if (!this.observers.isEmpty()) {
			observe((observer) -> observer.onRenewal(key, outcome));
		}
	}

	private void observe(Consumer<LockObserver> event) {
		for (LockObserver observer : this.observers) {
			try {
				event.accept(observer);
			}
			catch (RuntimeException | Error ex) {
				logger.warn("A lock observer failed; the lock is not affected", ex);
			}
		}
	}

	private void notifyListeners(SerialQueue queue, Consumer<LockListener> event) {
		if (this.pending.incrementAndGet() > MAX_PENDING) {
			if (this.pending.getAndDecrement() == MAX_PENDING + 1) {
				logger.warn("Lock listeners are too slow: notifications are dropped until they have caught up");
			}
			return;
		}
		queue.execute(() -> {
			try {
				this.listeners.forEach((listener) -> callSafely(() -> event.accept(listener)));
			}
			finally {
				this.pending.decrementAndGet();
			}
		});
	}

	static void callSafely(Runnable callback) {
		try {
			callback.run();
		}
		catch (RuntimeException | Error ex) {
			logger.warn("A lock callback failed; the lock is not affected", ex);
		}
	}

}
