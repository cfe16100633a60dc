package io.distributedlock.micrometer;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.LockMode;

/**
 * The context of a hold. Its outcome is {@code released} or {@code lost}.
 *
 * @since 0.1.0
 */
public final class LockHoldObservationContext extends LockObservationContext {

	static final String RELEASED = "released";

	static final String LOST = "lost";

	private final FencingToken token;

	LockHoldObservationContext(String lockName, String provider, LockKey key, LockMode mode, FencingToken token) {
		super(lockName, provider, key, mode);
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
