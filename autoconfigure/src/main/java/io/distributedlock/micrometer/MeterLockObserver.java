package io.distributedlock.micrometer;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import io.micrometer.core.instrument.MeterRegistry;

import io.distributedlock.LockKey;
import io.distributedlock.LossReason;
import io.distributedlock.provider.AcquireObserver;
import io.distributedlock.provider.LockObserver;
import io.distributedlock.provider.RenewalOutcome;

/**
 * An observer that counts what happens at an instant: {@code distributed.lock.renewals}
 * (by outcome), {@code distributed.lock.lost} (by reason),
 * {@code distributed.lock.handoffs}, {@code distributed.lock.skipped} and
 * {@code distributed.lock.unlocked}, each by lock name and provider. What takes time is
 * observed by {@link ObservationLockObserver}.
 * <p>
 * Keys are never tags. Names are expected to be few; all names beyond the first thousand
 * share the name {@code (other)}. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class MeterLockObserver implements LockObserver {

	private final MeterRegistry registry;

	private final String provider;

	private final LockNames names = new LockNames();

	private final ConcurrentMap<String, LockCounters> counters = new ConcurrentHashMap<>();

	private final AcquireObserver furtherKeys = new AcquireObserver() {

		@Override
		public AcquireObserver onNextKey(LockKey next) {
			return onAcquireStart(next);
		}

	};

	private final ConcurrentMap<String, MeterLockObserver> ofProviders = new ConcurrentHashMap<>();

	/**
	 * Creates an observer.
	 * @param registry where the counters are registered
	 * @param provider the name of the provider that keeps the locks; {@link #ofProvider}
	 * returns the observers of others
	 */
	public MeterLockObserver(MeterRegistry registry, String provider) {
		this.registry = registry;
		this.provider = provider;
	}

	/**
	 * Registers the counters of a lock, so that they appear before the first call.
	 * @param name the name of the lock
	 */
	public void register(String name) {
		of(name);
	}

	/**
	 * Registers the counters with the first request: a query of changes finds none in a
	 * series that begins with its first event.
	 */
	@Override
	public AcquireObserver onAcquireStart(LockKey key) {
		of(key.name());
		return this.furtherKeys;
	}

	@Override
	public void onHandOff(LockKey key) {
		of(key.name()).handOffs.increment();
	}

	@Override
	public void onRenewal(LockKey key, RenewalOutcome outcome) {
		of(key.name()).increment(outcome);
	}

	@Override
	public void onLost(LockKey key, LossReason reason) {
		of(key.name()).increment(reason);
	}

	@Override
	public void onSkip(LockKey key) {
		of(key.name()).skipped.increment();
	}

	@Override
	public void onUnlockedCall(String name) {
		of(name).unlocked.increment();
	}

	@Override
	public MeterLockObserver ofProvider(String name) {
		return name.equals(this.provider) ? this
				: this.ofProviders.computeIfAbsent(name, (other) -> new MeterLockObserver(this.registry, other));
	}

	private LockCounters of(String name) {
		LockCounters known = this.counters.get(name);
		return (known != null) ? known : this.counters.computeIfAbsent(this.names.bounded(name),
				(added) -> new LockCounters(this.registry, added, this.provider));
	}

}
