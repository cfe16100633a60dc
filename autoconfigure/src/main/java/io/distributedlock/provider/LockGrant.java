package io.distributedlock.provider;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;

/**
 * One grant of a key, as it is recorded in the store.
 *
 * @param key the key
 * @param owner the owner id of the grant in the store
 * @param order a number from 1 to {@link FencingToken#MAX_ORDER} that rises with every
 * grant of the key
 * @param validity how long the store keeps the grant unless it is renewed, counted from
 * when the command was sent
 * @param sessionDeadline the deadline of the session that may end the grant earlier, or
 * {@code null} if the store has no sessions
 * @since 0.1.0
 */
public record LockGrant(LockKey key, OwnerId owner, long order, Duration validity,
		@Nullable SessionDeadline sessionDeadline) {

	/**
	 * Creates a grant that lasts as long as it is renewed.
	 * @param key the key
	 * @param owner the owner id of the grant in the store
	 * @param order a number that rises with every grant of the key
	 * @param validity how long the store keeps the grant unless it is renewed
	 */
	public LockGrant(LockKey key, OwnerId owner, long order, Duration validity) {
		this(key, owner, order, validity, null);
	}

}
