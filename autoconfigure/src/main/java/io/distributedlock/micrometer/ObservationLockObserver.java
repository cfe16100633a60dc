package io.distributedlock.micrometer;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.LockMode;
import io.distributedlock.provider.AcquireObserver;
import io.distributedlock.provider.LockObserver;

/**
 * An observer that makes two observations of each key: {@code distributed.lock.acquire},
 * a request, and {@code distributed.lock.hold}. What becomes of them, such as timers and
 * spans, is a matter of the registry's handlers.
 * <p>
 * Both are children of the observation that was current when the lock was requested, and
 * what the body observes are children of the hold. If there was none, and the lock is
 * granted on another thread, the request is the parent of the hold. Safe for use by many
 * threads.
 *
 * @since 0.1.0
 */
public final class ObservationLockObserver implements LockObserver {

	private final LockObservations observations;

	private final ConcurrentMap<String, ObservationLockObserver> ofProviders = new ConcurrentHashMap<>();

	/**
	 * Creates an observer.
	 * @param registry where the observations are made
	 * @param provider the name of the provider that keeps the locks; {@link #ofProvider}
	 * returns the observers of others
	 * @param acquireConvention the convention for requests
	 * @param holdConvention the convention for holds
	 */
	public ObservationLockObserver(ObservationRegistry registry, String provider,
			LockAcquireObservationConvention acquireConvention, LockHoldObservationConvention holdConvention) {
		this.observations = new LockObservations(registry, provider, new LockNames(), acquireConvention,
				holdConvention);
	}

	@Override
	public @Nullable AcquireObserver onAcquireStart(LockKey key) {
		return onAcquireStart(key, LockMode.EXCLUSIVE);
	}

	@Override
	public @Nullable AcquireObserver onAcquireStart(LockKey key, LockMode mode) {
		ObservationRegistry registry = this.observations.registry();
		return registry.isNoop() ? null : new MicrometerAcquireObserver(this.observations, key, mode,
				registry.getCurrentObservation(), Thread.currentThread());
	}

	@Override
	public ObservationLockObserver ofProvider(String name) {
		return name.equals(this.observations.provider()) ? this
				: this.ofProviders.computeIfAbsent(name,
						(other) -> new ObservationLockObserver(this.observations.registry(), other,
								this.observations.acquireConvention(), this.observations.holdConvention()));
	}

	LockObservations observations() {
		return this.observations;
	}

}
