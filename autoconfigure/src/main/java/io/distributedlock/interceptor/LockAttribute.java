package io.distributedlock.interceptor;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.distributedlock.OnBusy;
import io.distributedlock.OnLost;

/**
 * Lock settings of one method. Immutable.
 *
 * @param name the lock's bounded name
 * @param keys the SpEL expressions of the key, with placeholders already replaced; none
 * means one lock for the name
 * @param lease the lease, or {@code null} for the default
 * @param waitTime the wait time, or {@code null} for the default
 * @param renew whether the lease is renewed while the method runs
 * @param maxHold the longest hold, or {@code null} for the default
 * @param minHold for how long after its grant the lock is kept at least, or {@code null}
 * @param onBusy the policy for a lock that stays busy
 * @param fallback the name of the method that is called in place of this one if the lock
 * stays busy, not with {@link OnBusy#SKIP}, or {@code null}
 * @param onLost the policy for a lock that was lost while the method ran
 * @param condition the SpEL expression of the condition, or {@code null} for none
 * @param provider the provider that keeps the lock, or {@code null} for the primary one
 * @since 0.1.0
 */
public record LockAttribute(String name, List<String> keys, @Nullable Duration lease, @Nullable Duration waitTime,
		boolean renew, @Nullable Duration maxHold, @Nullable Duration minHold, OnBusy onBusy, @Nullable String fallback,
		OnLost onLost, @Nullable String condition, @Nullable String provider) {

	public LockAttribute {
		keys = List.copyOf(keys);
	}

}
