package io.distributedlock.micrometer;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import io.micrometer.core.instrument.MeterRegistry;

import io.distributedlock.LockKey;
import io.distributedlock.LossReason;
import io.distributedlock.provider.LockObserver;
import io.distributedlock.provider.RenewalOutcome;

/**
 * An observer that counts and times locks: {@code distributed.lock.acquire} (timer, by
 * outcome), {@code distributed.lock.held} (gauge), {@code distributed.lock.hand-offs}
 * (counter), {@code distributed.lock.renewals} (counter, by outcome),
 * {@code distributed.lock.lost} (counter, by reason), {@code distributed.lock.skipped}
 * (counter) and {@code distributed.lock.unlocked} (counter), each by lock name and
 * provider.
 * <p>
 * Keys are never tags. Names are expected to be few; all names beyond the first thousand
 * share the name {@code (other)}. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class MicrometerLockObserver implements LockObserver {

	static final int MAX_NAMES = 1000;

	private final MeterRegistry registry;

	private final String provider;

	private final ConcurrentMap<String, LockMeters> meters = new ConcurrentHashMap<>();

	private final LockMeters others;

	private final ConcurrentMap<String, LockObserver> ofProviders = new ConcurrentHashMap<>();

	/**
	 * Creates an observer.
	 * @param registry where the meters are registered
	 * @param provider the name of the provider that keeps the locks; {@link #ofProvider}
	 * returns the observers of others
	 */
	public MicrometerLockObserver(MeterRegistry registry, String provider) {
		this.registry = registry;
		this.provider = provider;
		this.others = new LockMeters(registry, "(other)", provider);
	}

	@Override
	public void onAcquireEnd(LockKey key, AcquireOutcome outcome, Duration took) {
		of(key.name()).acquireEnded(outcome, took);
	}

	@Override
	public void onHandOff(LockKey key) {
		of(key.name()).handedOff();
	}

	@Override
	public void onHoldStart(LockKey key) {
		of(key.name()).held(1);
	}

	@Override
	public void onHoldEnd(LockKey key) {
		of(key.name()).held(-1);
	}

	@Override
	public void onRenewal(LockKey key, RenewalOutcome outcome) {
		of(key.name()).renewed(outcome);
	}

	@Override
	public void onLost(LockKey key, LossReason reason) {
		of(key.name()).lost(reason);
	}

	@Override
	public void onSkip(LockKey key) {
		of(key.name()).skipped();
	}

	@Override
	public void onUnlockedCall(String name) {
		of(name).ranUnlocked();
	}

	@Override
	public LockObserver ofProvider(String name) {
		return name.equals(this.provider) ? this
				: this.ofProviders.computeIfAbsent(name, (other) -> new MicrometerLockObserver(this.registry, other));
	}

	/**
	 * Returns the meters of a name. The map never shrinks, so that they do not change.
	 */
	private LockMeters of(String name) {
		LockMeters known = this.meters.get(name);
		if (known != null) {
			return known;
		}
		if (this.meters.size() >= MAX_NAMES) {
			return this.others;
		}
		return this.meters.computeIfAbsent(name, (added) -> new LockMeters(this.registry, added, this.provider));
	}

}
