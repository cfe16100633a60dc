package io.distributedlock.micrometer;

import java.util.List;
import java.util.stream.Stream;

import io.micrometer.common.KeyValues;
import io.micrometer.core.instrument.LongTaskTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.LockLostException;
import io.distributedlock.LockMode;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AcquireOutcome;

/**
 * The registration of all meters of a lock, so that they appear with zero before the
 * first call. The timers have the names and tags that Micrometer's handler gives those of
 * an observation.
 *
 * @since 0.1.0
 */
public final class LockMeterRegistration {

	private final MeterRegistry registry;

	private final ObservationLockObserver observer;

	/**
	 * Creates a registration.
	 * @param registry where the meters are registered
	 * @param observer makes the observations that become timers
	 */
	public LockMeterRegistration(MeterRegistry registry, ObservationLockObserver observer) {
		this.registry = registry;
		this.observer = observer;
	}

	/**
	 * Registers the timers of a lock, unless its observations are disabled.
	 * @param name the name of the lock
	 * @param provider the name of the provider that keeps it
	 * @param mode the mode in which it is requested
	 */
	public void register(String name, String provider, LockMode mode) {
		ObservationLockObserver own = this.observer.ofProvider(provider);
		if (own == null) {
			// A mock returns no observer of a provider.
			return;
		}
		LockObservations observations = own.observations();
		LockKey key = LockKey.of(name);
		registerAcquire(observations, key, mode);
		registerHold(observations, key, mode);
	}

	private void registerAcquire(LockObservations observations, LockKey key, LockMode mode) {
		LockAcquireObservationContext active = observations.acquireContext(key, mode);
		if (observations.acquire(active).isNoop()) {
			return;
		}
		registerActive(observations.acquireConvention(), active, "Requests for a lock that wait now");
		for (AcquireOutcome outcome : AcquireOutcome.values()) {
			LockAcquireObservationContext ended = observations.acquireContext(key, mode);
			ended.setOutcome(outcome);
			registerTimer(observations.acquireConvention(), ended, "Requests for a lock, waiting included",
					(outcome == AcquireOutcome.FAILED) ? LockProviderException.class.getSimpleName() : "none");
		}
	}

	private void registerHold(LockObservations observations, LockKey key, LockMode mode) {
		FencingToken token = FencingToken.of(1, 0);
		LockHoldObservationContext active = observations.holdContext(key, mode, token);
		if (observations.hold(active).isNoop()) {
			return;
		}
		registerActive(observations.holdConvention(), active, "Locks held by this process now");
		for (String outcome : List.of(LockHoldObservationContext.RELEASED, LockHoldObservationContext.LOST)) {
			LockHoldObservationContext ended = observations.holdContext(key, mode, token);
			ended.setOutcome(outcome);
			registerTimer(observations.holdConvention(), ended, "Holds of a lock",
					outcome.equals(LockHoldObservationContext.LOST) ? LockLostException.class.getSimpleName() : "none");
		}
	}

	private <T extends Observation.Context> void registerActive(ObservationConvention<T> convention, T context,
			String description) {
		LongTaskTimer.builder(convention.getName() + ".active")
			.description(description)
			.tags(tags(convention.getLowCardinalityKeyValues(context)).toList())
			.register(this.registry);
	}

	private <T extends Observation.Context> void registerTimer(ObservationConvention<T> convention, T context,
			String description, String error) {
		Timer.builder(String.valueOf(convention.getName()))
			.description(description)
			.tags(Stream.concat(tags(convention.getLowCardinalityKeyValues(context)), Stream.of(Tag.of("error", error)))
				.toList())
			.register(this.registry);
	}

	private static Stream<Tag> tags(KeyValues keyValues) {
		return keyValues.stream().map((keyValue) -> Tag.of(keyValue.getKey(), keyValue.getValue()));
	}

}
