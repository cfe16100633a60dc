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
 * {@code distributed.lock.lost} (counter, by reason) and {@code distributed.lock.skipped}
 * (counter), each by lock name and provider.
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

	/**
	 * Creates an observer.
	 * @param registry where the meters are registered
	 * @param provider the name of the provider that keeps the locks
	 */
	public MicrometerLockObserver(MeterRegistry registry, String provider) {
		this.registry = registry;
		this.provider = provider;
		this.others = new LockMeters(registry, "(other)", provider);
	}

	@Override
	public void onAcquireEnd(LockKey key, AcquireOutcome outcome, Duration took) {
		of(key).acquireEnded(outcome, took);
	}

	@Override
	public void onHandOff(LockKey key) {
		of(key).handedOff();
	}

	@Override
	public void onHoldStart(LockKey key) {
		of(key).held(1);
	}

	@Override
	public void onHoldEnd(LockKey key) {
		of(key).held(-1);
	}

	@Override
	public void onRenewal(LockKey key, RenewalOutcome outcome) {
		of(key).renewed(outcome);
	}

	@Override
	public void onLost(LockKey key, LossReason reason) {
		of(key).lost(reason);
	}

	@Override
	public void onSkip(LockKey key) {
		of(key).skipped();
	}

	/**
	 * Returns the meters of a name. The map never shrinks, so that they do not change.
	 */
	private LockMeters of(LockKey key) {
		LockMeters known = this.meters.get(key.name());
		if (known != null) {
			return known;
		}
		if (this.meters.size() >= MAX_NAMES) {
			return this.others;
		}
		return this.meters.computeIfAbsent(key.name(), (name) -> new LockMeters(this.registry, name, this.provider));
	}

}
