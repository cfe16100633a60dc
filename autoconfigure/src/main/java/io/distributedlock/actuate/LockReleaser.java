package io.distributedlock.actuate;

import java.time.Duration;
import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.FencingToken;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.actuate.ForcedRelease.Outcome;
import io.distributedlock.provider.LockInspector;
import io.distributedlock.provider.StoredLock;

/**
 * Releaser of locks by force, for a caller who names the present token. A hold of this
 * process has to have exactly this token. Of another process's grant the store knows the
 * order alone, which the token has to contain. Each request is logged.
 *
 * @param timeout how long a call to a store may take
 */
record LockReleaser(Duration timeout) {

	private static final ForcedRelease NOT_HELD = new ForcedRelease(Outcome.NOT_HELD, "No process holds the lock");

	private static final ForcedRelease STALE_TOKEN = new ForcedRelease(Outcome.STALE_TOKEN,
			"The lock has another token by now, or is being released. Read the lock again, and decide anew");

	private static final Log logger = LogFactory.getLog(LockReleaser.class);

	/**
	 * Releases a lock that has a given token.
	 * @param requester who asks for it
	 */
	ForcedRelease release(ManagedProvider provider, LockKey key, FencingToken token, String requester) {
		ForcedRelease answer = release(provider, key, token);
		logger.warn("The forced release of lock '" + LogText.escape(key.encoded()) + "' with token " + token
				+ " in store '" + provider.name() + "' was requested by '" + LogText.escape(requester) + "': "
				+ answer.outcome() + ". " + LogText.escape(answer.message()));
		return answer;
	}

	private ForcedRelease release(ManagedProvider provider, LockKey key, FencingToken token) {
		if (provider.template().forceRelease(key, token)) {
			return new ForcedRelease(Outcome.RELEASED, "The hold of this process has ended, and its holder is told."
					+ " The store is told in the background, and keeps the lock until then");
		}
		// Shares of other processes may be beside one of this process. Each has one
		// token, as it is never handed off, so that its order is enough.
		if (provider.template().hasGrant(key)) {
			return STALE_TOKEN;
		}
		try {
			return provider.inspector()
				.map((inspector) -> release(inspector, key, token))
				.orElseGet(() -> new ForcedRelease(Outcome.TOKEN_UNKNOWN, "This process does not hold the lock, and the"
						+ " store does not show who does. Send the request to the process that holds it"));
		}
		catch (LockException ex) {
			return new ForcedRelease(Outcome.STORE_FAILED, String.valueOf(ex.getMessage()));
		}
	}

	private ForcedRelease release(LockInspector inspector, LockKey key, FencingToken token) {
		List<StoredLock> locks = inspector.findAll(key, this.timeout);
		if (locks.isEmpty()) {
			return NOT_HELD;
		}
		// One of the shares, if there are several grants.
		StoredLock lock = locks.stream().filter((one) -> one.isGrantOf(token)).findFirst().orElse(locks.get(0));
		if (lock.holder().released()) {
			return new ForcedRelease(Outcome.KEPT,
					"No process holds the lock, which is kept for the rest of its minHold"
							+ ((lock.holder().remaining() != null)
									? " of " + lock.holder().remaining().toMillis() + " ms" : "")
							+ ". Wait until then");
		}
		if (lock.order() == null) {
			return new ForcedRelease(Outcome.TOKEN_UNKNOWN, "The store does not have the token of the grant to '"
					+ lock.holder().label() + "', so that it cannot be compared. Send the request to that process");
		}
		return lock.isGrantOf(token) ? release(inspector, key, lock) : STALE_TOKEN;
	}

	private ForcedRelease release(LockInspector inspector, LockKey key, StoredLock lock) {
		return switch (inspector.forceRelease(key, lock, this.timeout)) {
			case RELEASED -> new ForcedRelease(Outcome.RELEASED, "The store has released the grant to '"
					+ lock.holder().label() + "', which learns of it with its next renewal at the latest");
			case NOT_HELD, GONE -> NOT_HELD;
			case UNKNOWN -> new ForcedRelease(Outcome.STORE_FAILED, "The release of the grant to '"
					+ lock.holder().label() + "' was requested, but not confirmed in time. Read the lock again");
		};
	}

}
