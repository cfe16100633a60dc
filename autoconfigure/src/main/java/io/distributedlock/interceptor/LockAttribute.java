package io.distributedlock.interceptor;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

import io.distributedlock.LockKey;
import io.distributedlock.LockRequest;
import io.distributedlock.OnBusy;
import io.distributedlock.OnLost;

/**
 * Lock settings of one method. Immutable; each {@code with…} method returns a changed
 * copy.
 *
 * @since 0.1.0
 */
public final class LockAttribute {

	private final String name;

	private final List<String> keys;

	private final LockRequest request;

	private final OnBusy onBusy;

	private final @Nullable String fallback;

	private final OnLost onLost;

	private final @Nullable String condition;

	private final @Nullable String provider;

	private LockAttribute(String name, List<String> keys, LockRequest request, OnBusy onBusy, @Nullable String fallback,
			OnLost onLost, @Nullable String condition, @Nullable String provider) {
		this.name = name;
		this.keys = List.copyOf(keys);
		this.request = request;
		this.onBusy = onBusy;
		this.fallback = fallback;
		this.onLost = onLost;
		this.condition = condition;
		this.provider = provider;
	}

	/**
	 * Creates the settings of a method with one lock for its name, and with the defaults.
	 * @param name the lock's bounded name
	 * @return the attribute
	 * @throws io.distributedlock.LockConfigurationException if the name is no key
	 */
	public static LockAttribute of(String name) {
		return new LockAttribute(name, List.of(), LockRequest.of(LockKey.of(name)), OnBusy.FAIL, null, OnLost.FAIL,
				null, null);
	}

	/**
	 * Returns a copy with other keys.
	 * @param keys the SpEL expressions of the key, with placeholders already replaced;
	 * none means one lock for the name
	 * @return the copy
	 */
	public LockAttribute withKeys(List<String> keys) {
		return new LockAttribute(this.name, keys, this.request, this.onBusy, this.fallback, this.onLost, this.condition,
				this.provider);
	}

	/**
	 * Returns a copy with the terms of a request: lease, wait time, renewal, longest and
	 * shortest hold, and mode. Its keys do not count.
	 * @param request the request
	 * @return the copy
	 */
	public LockAttribute withRequest(LockRequest request) {
		return new LockAttribute(this.name, this.keys, request.withKeys(this.request.keys()), this.onBusy,
				this.fallback, this.onLost, this.condition, this.provider);
	}

	/**
	 * Returns a copy with another policy for a lock that stays busy.
	 * @param onBusy the policy
	 * @return the copy
	 */
	public LockAttribute withOnBusy(OnBusy onBusy) {
		return new LockAttribute(this.name, this.keys, this.request, onBusy, this.fallback, this.onLost, this.condition,
				this.provider);
	}

	/**
	 * Returns a copy with another fallback.
	 * @param fallback the name of the method that is called in place of this one if the
	 * lock stays busy, or {@code null}
	 * @return the copy
	 */
	public LockAttribute withFallback(@Nullable String fallback) {
		return new LockAttribute(this.name, this.keys, this.request, this.onBusy, fallback, this.onLost, this.condition,
				this.provider);
	}

	/**
	 * Returns a copy with another policy for a lock that was lost while the method ran.
	 * @param onLost the policy
	 * @return the copy
	 */
	public LockAttribute withOnLost(OnLost onLost) {
		return new LockAttribute(this.name, this.keys, this.request, this.onBusy, this.fallback, onLost, this.condition,
				this.provider);
	}

	/**
	 * Returns a copy with another condition.
	 * @param condition the SpEL expression of the condition, or {@code null} for none
	 * @return the copy
	 */
	public LockAttribute withCondition(@Nullable String condition) {
		return new LockAttribute(this.name, this.keys, this.request, this.onBusy, this.fallback, this.onLost, condition,
				this.provider);
	}

	/**
	 * Returns a copy with another provider.
	 * @param provider the provider that keeps the lock, or {@code null} or an empty text
	 * for the primary one
	 * @return the copy
	 */
	public LockAttribute withProvider(@Nullable String provider) {
		return new LockAttribute(this.name, this.keys, this.request, this.onBusy, this.fallback, this.onLost,
				this.condition, StringUtils.hasText(provider) ? provider : null);
	}

	/** Returns the lock's bounded name. */
	public String name() {
		return this.name;
	}

	/** Returns the SpEL expressions of the key; none means one lock for the name. */
	public List<String> keys() {
		return this.keys;
	}

	/** Returns the request for the one lock of the name, with the times of the method. */
	public LockRequest request() {
		return this.request;
	}

	/** Returns the policy for a lock that stays busy. */
	public OnBusy onBusy() {
		return this.onBusy;
	}

	/**
	 * Returns the name of the method that is called in place of this one if the lock
	 * stays busy, or {@code null}.
	 */
	public @Nullable String fallback() {
		return this.fallback;
	}

	/** Returns the policy for a lock that was lost while the method ran. */
	public OnLost onLost() {
		return this.onLost;
	}

	/** Returns the SpEL expression of the condition, or {@code null} for none. */
	public @Nullable String condition() {
		return this.condition;
	}

	/** Returns the provider that keeps the lock, or {@code null} for the primary one. */
	public @Nullable String provider() {
		return this.provider;
	}

}
