package io.distributedlock.engine.event;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.LockMode;
import io.distributedlock.provider.AcquireObserver;
import io.distributedlock.provider.AcquireOutcome;
import io.distributedlock.provider.HoldObserver;
import io.distributedlock.provider.LockObserver;

/**
 * The observers of one request for one key. There is none where nothing is observed.
 * <p>
 * Invariant: a request that was started is ended exactly once. The queue ends it with the
 * grant, and its runner with everything else, also if both come together; one flag says
 * who was first.
 */
public final class AcquireObservation {

	private final List<AcquireObserver> observers;

	private final AtomicBoolean ended = new AtomicBoolean();

	private AcquireObservation(List<AcquireObserver> observers) {
		this.observers = observers;
	}

	/** Starts the observation of a request. */
	static @Nullable AcquireObservation start(List<LockObserver> observers, LockKey key, LockMode mode) {
		return of(ObserverCalls.collect(observers, (observer) -> observer.onAcquireStart(key, mode)));
	}

	private static @Nullable AcquireObservation of(List<AcquireObserver> observers) {
		return observers.isEmpty() ? null : new AcquireObservation(observers);
	}

	/** Starts the observation of the same request for its next key. */
	public @Nullable AcquireObservation startNext(LockKey next) {
		return of(ObserverCalls.collect(this.observers, (observer) -> observer.onNextKey(next)));
	}

	/** Ends the request, unless it has ended before. */
	public void end(AcquireOutcome outcome, @Nullable Throwable failure) {
		if (this.ended.compareAndSet(false, true)) {
			ObserverCalls.each(this.observers, (observer) -> observer.onEnd(outcome, failure));
		}
	}

	/** Starts the hold that the request has acquired. */
	List<HoldObserver> startHold(FencingToken token) {
		return ObserverCalls.collect(this.observers, (observer) -> observer.onHoldStart(token));
	}

}
