package io.distributedlock.micrometer;

import io.micrometer.observation.Observation;
import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.LockMode;
import io.distributedlock.provider.AcquireObserver;
import io.distributedlock.provider.AcquireOutcome;
import io.distributedlock.provider.HoldObserver;

/**
 * The observation of one request for one key.
 */
final class MicrometerAcquireObserver implements AcquireObserver {

	private final LockObservations observations;

	private final LockKey key;

	private final LockMode mode;

	private final @Nullable Observation parent;

	private final Thread requester;

	private final LockAcquireObservationContext context;

	private final Observation observation;

	/**
	 * Starts the observation.
	 * @param parent what was current when the lock was requested, if anything was
	 * @param requester the thread that requested it
	 */
	MicrometerAcquireObserver(LockObservations observations, LockKey key, LockMode mode, @Nullable Observation parent,
			Thread requester) {
		this.observations = observations;
		this.key = key;
		this.mode = mode;
		this.parent = parent;
		this.requester = requester;
		this.context = observations.acquireContext(key, mode);
		this.observation = observations.acquire(this.context);
		// Not what is current on this thread, which may be that of another request.
		this.context.setParentObservation(parent);
		LockObservations.start(this.observation);
	}

	@Override
	public void onEnd(AcquireOutcome outcome, @Nullable Throwable failure) {
		this.context.setOutcome(outcome);
		LockObservations.stop(this.observation, (outcome == AcquireOutcome.FAILED) ? failure : null);
	}

	@Override
	public @Nullable HoldObserver onHoldStart(FencingToken token) {
		LockHoldObservationContext hold = this.observations.holdContext(this.key, this.mode, token);
		Observation held = this.observations.hold(hold);
		if (held.isNoop()) {
			return null;
		}
		hold.setParentObservation(parentHere());
		LockObservations.start(held);
		return new MicrometerHoldObserver(held, hold, this.observations.registry());
	}

	@Override
	public AcquireObserver onNextKey(LockKey next) {
		return new MicrometerAcquireObserver(this.observations, next, this.mode, parentHere(), this.requester);
	}

	/**
	 * Returns the parent of what starts on this thread. Without one a tracer would choose
	 * the current span, which on another thread is that of unrelated work.
	 */
	private @Nullable Observation parentHere() {
		if (this.parent != null || this.observation.isNoop() || Thread.currentThread() == this.requester) {
			return this.parent;
		}
		return this.observation;
	}

}
