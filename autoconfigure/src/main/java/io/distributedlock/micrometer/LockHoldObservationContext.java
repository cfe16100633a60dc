package io.distributedlock.micrometer;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;

/**
 * The context of a hold. Its outcome is {@code released} or {@code lost}.
 *
 * @since 0.1.0
 */
public final class LockHoldObservationContext extends LockObservationContext {

	static final String RELEASED = "released";

	static final String LOST = "lost";

	private final FencingToken token;

	LockHoldObservationContext(String lockName, String provider, LockKey key, FencingToken token) {
		super(lockName, provider, key);
		this.token = token;
	}

	/**
	 * Returns the fencing token of the hold.
	 * @return the token
	 */
	public FencingToken getToken() {
		return this.token;
	}

}
