package io.distributedlock.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockLostException;
import io.distributedlock.LossReason;
import io.distributedlock.ObserverScope;
import io.distributedlock.provider.HoldObserver;

/**
 * The observation of one hold, which was started.
 *
 * @param observation the observation
 * @param context its context
 * @param registry where it is made
 */
record MicrometerHoldObserver(Observation observation, LockHoldObservationContext context,
		ObservationRegistry registry) implements HoldObserver {

	@Override
	public void onEnd(@Nullable LossReason loss) {
		this.context.setOutcome((loss != null) ? LockHoldObservationContext.LOST : LockHoldObservationContext.RELEASED);
		LockObservations.stop(this.observation,
				(loss != null) ? new LockLostException(LockError.LOST, this.context.getKey(), loss, null) : null);
	}

	/** What is current on the thread is restored even if a handler fails. */
	@Override
	public ObserverScope openScope() {
		Observation.Scope previous = this.registry.getCurrentObservationScope();
		Observation.Scope opened;
		try {
			opened = this.observation.openScope();
		}
		catch (RuntimeException | Error ex) {
			this.registry.setCurrentObservationScope(previous);
			throw ex;
		}
		return () -> {
			try {
				opened.close();
			}
			finally {
				this.registry.setCurrentObservationScope(previous);
			}
		};
	}

}
