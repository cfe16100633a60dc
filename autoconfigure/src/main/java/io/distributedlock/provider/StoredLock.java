package io.distributedlock.provider;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockHolder;

/**
 * A busy lock as its store has it, whichever process holds it.
 *
 * @param key the encoded text of its key, as the store keeps it: a long one may be cut
 * and end with a hash
 * @param owner the owner id of the grant, or {@code null} if the store does not have it,
 * or keeps the lock after its release
 * @param order the order of the last grant, or {@code null} if the store does not have it
 * @param holder its holder, or the last one of a lock that is kept after its release
 * @since 0.1.0
 */
public record StoredLock(String key, @Nullable OwnerId owner, @Nullable Long order, LockHolder holder) {

	/**
	 * Returns whether a token belongs to the present grant. The store does not know which
	 * hold of it is the present one.
	 * @param token the token
	 * @return {@code false} also if the store does not have the order of the grant
	 */
	public boolean isGrantOf(FencingToken token) {
		return this.order != null && this.order == token.order();
	}

}
