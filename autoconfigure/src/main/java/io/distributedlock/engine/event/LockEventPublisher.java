package io.distributedlock.engine.event;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NativeDetector;
import org.springframework.util.ReflectionUtils;

import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockListener;
import io.distributedlock.LockMode;
import io.distributedlock.LossReason;
import io.distributedlock.engine.concurrent.EngineEnvironment;
import io.distributedlock.engine.concurrent.EngineEnvironment.Work;
import io.distributedlock.engine.concurrent.SerialQueue;
import io.distributedlock.provider.LockObserver;
import io.distributedlock.provider.RenewalOutcome;

/**
 * The publisher of events: it calls observers at once, and listeners on the callback
 * threads. Neither can break a lock, and listeners cannot delay one.
 */
public final class LockEventPublisher {

	private static final Log logger = LogFactory.getLog(LockEventPublisher.class);

	/** Notifications for slow listeners beyond this number are dropped. */
	private static final int MAX_PENDING = 10_000;

	private final List<LockObserver> observers;

	private final List<LockListener> onAcquired;

	private final List<LockListener> onBusy;

	private final List<LockListener> onLost;

	private final List<LockListener> onReleased;

	private final EngineEnvironment environment;

	private final AtomicInteger pending = new AtomicInteger();

	/** Whether notifications were dropped since the listeners had caught up. */
	private final AtomicBoolean dropping = new AtomicBoolean();

	public LockEventPublisher(EngineEnvironment environment, List<LockObserver> observers,
			List<LockListener> listeners) {
		this.environment = environment;
		this.observers = List.copyOf(observers);
		this.onAcquired = interested(listeners, "onAcquired", LockLease.class);
		this.onBusy = interested(listeners, "onBusy", LockKey.class, LockMode.class, Duration.class, LockHolder.class);
		this.onLost = interested(listeners, "onLost", LockLease.class, LossReason.class);
		this.onReleased = interested(listeners, "onReleased", LockLease.class);
	}

	/**
	 * Selects listeners that do something: the others would cost a task for each lock.
	 */
	private static List<LockListener> interested(List<LockListener> listeners, String method, Class<?>... parameters) {
		return listeners.stream().filter((listener) -> {
			Method found = ReflectionUtils.findMethod(listener.getClass(), method, parameters);
			// A native image may not know the methods of the listener.
			return found == null || found.getDeclaringClass() != LockListener.class || NativeDetector.inNativeImage();
		}).toList();
	}

	public EngineEnvironment environment() {
		return this.environment;
	}

	/** Starts the observation of a request, or returns {@code null} without observers. */
	public @Nullable AcquireObservation acquireStarted(LockKey key, LockMode mode) {
		return this.observers.isEmpty() ? null : AcquireObservation.start(this.observers, key, mode);
	}

	/** Creates what observes a hold, or returns {@code null} without observers. */
	public @Nullable HoldObservation newHoldObservation() {
		return this.observers.isEmpty() ? null : new HoldObservation();
	}

	public void handedOff(LockKey key) {
		ObserverCalls.each(this.observers, (observer) -> observer.onHandOff(key));
	}

	/**
	 * Tells the beginning of a hold.
	 * @param request the observers of its request, or {@code null} for none
	 */
	public void holdBegan(GrantHandle hold, @Nullable AcquireObservation request) {
		HoldObservation observation = hold.observation();
		if (observation != null && request != null) {
			observation.start(request, hold.fencingToken());
		}
		if (!this.onAcquired.isEmpty()) {
			notifyListeners(this.onAcquired, hold.callbacks(), (listener) -> listener.onAcquired(hold.lease()));
		}
	}

	public void released(GrantHandle hold) {
		ended(hold, null);
		if (!this.onReleased.isEmpty()) {
			notifyListeners(this.onReleased, hold.callbacks(), (listener) -> listener.onReleased(hold.lease()));
		}
	}

	private static void ended(GrantHandle hold, @Nullable LossReason loss) {
		HoldObservation observation = hold.observation();
		if (observation != null) {
			observation.end(loss);
		}
	}

	/**
	 * Reports a loss. What the library does itself, the application's actions and its
	 * listeners have threads of their own each, so that none waits for another.
	 */
	public void lost(GrantHandle hold, LossReason reason) {
		Runnable report = () -> {
			logger.error("Lock '" + hold.key() + "' with fencing token " + hold.fencingToken() + " was lost: "
					+ reason.description() + ". Its holder may still be working; only a fenced resource is protected "
					+ "from it");
			ObserverCalls.each(this.observers, (observer) -> observer.onLost(hold.key(), reason));
			ended(hold, reason);
		};
		try {
			this.environment.executor(Work.LOSSES).execute(report);
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			report.run();
		}
		hold.runLossActions();
		if (!this.onLost.isEmpty()) {
			hold.callbacks()
				.execute(() -> notifyEach(this.onLost, (listener) -> listener.onLost(hold.lease(), reason)));
		}
	}

	public void busy(LockKey key, LockMode mode, long waitedNanos, @Nullable LockHolder holder) {
		if (!this.onBusy.isEmpty()) {
			Duration waited = Duration.ofNanos(waitedNanos);
			notifyListeners(this.onBusy, new SerialQueue(this.environment, Work.CALLBACKS),
					(listener) -> listener.onBusy(key, mode, waited, holder));
		}
	}

	public void renewed(LockKey key, RenewalOutcome outcome) {
		ObserverCalls.each(this.observers, (observer) -> observer.onRenewal(key, outcome));
	}

	private void notifyListeners(List<LockListener> listeners, SerialQueue queue, Consumer<LockListener> event) {
		if (this.pending.incrementAndGet() > MAX_PENDING) {
			this.pending.decrementAndGet();
			if (this.dropping.compareAndSet(false, true)) {
				logger.warn("Lock listeners are too slow: notifications are dropped until they have caught up");
			}
			return;
		}
		queue.execute(() -> {
			try {
				notifyEach(listeners, event);
			}
			finally {
				if (this.pending.decrementAndGet() <= MAX_PENDING / 2) {
					this.dropping.set(false);
				}
			}
		});
	}

	private static void notifyEach(List<LockListener> listeners, Consumer<LockListener> event) {
		listeners.forEach((listener) -> SerialQueue.runSafely(() -> event.accept(listener)));
	}

}
