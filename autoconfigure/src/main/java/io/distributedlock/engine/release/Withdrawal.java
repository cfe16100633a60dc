package io.distributedlock.engine.release;

import org.jspecify.annotations.Nullable;

/**
 * What has become of the withdrawal for a key that this process waits for again.
 *
 * @param isUnderWay whether it is under way; its end is a signal for the key
 * @param cancelled what is left to do, without a lock, for one that will not be sent
 */
public record Withdrawal(boolean isUnderWay, @Nullable Runnable cancelled) {

	static final Withdrawal NONE = new Withdrawal(false, null);

	static final Withdrawal UNDER_WAY = new Withdrawal(true, null);

}
