package io.distributedlock.support;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockRequest;

/**
 * The terms of a request after the defaults were applied.
 */
record LockTerms(Duration lease, Duration waitTime, boolean renew, @Nullable Duration maxHold) {

	static LockTerms of(LockRequest request, LockSettings settings) {
		return new LockTerms(or(request.lease(), settings.lease()), or(request.waitTime(), settings.waitTime()),
				request.renew(), (request.maxHold() != null) ? request.maxHold() : settings.maxHold());
	}

	private static Duration or(@Nullable Duration value, Duration fallback) {
		return (value != null) ? value : fallback;
	}

}
