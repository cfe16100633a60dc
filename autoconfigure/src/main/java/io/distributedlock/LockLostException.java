package io.distributedlock;

import org.jspecify.annotations.Nullable;

/**
 * The lock was lost while its holder still worked: the lease ended before it could be
 * renewed, or the store gave the lock to another. What was done under it may overlap with
 * the next holder's work; only a {@link FencingToken fenced} resource can tell.
 *
 * @since 0.1.0
 */
public final class LockLostException extends LockException {

	private static final long serialVersionUID = 1L;

	private final transient LockKey key;

	private final LossReason reason;

	public LockLostException(LockError error, LockKey key, LossReason reason, @Nullable Throwable cause) {
		super(error, message(error, key, reason), cause);
		this.key = key;
		this.reason = reason;
	}

	private static String message(LockError error, LockKey key, LossReason reason) {
		return "Lock '" + key + "' was lost (" + reason.description() + ") " + switch (error) {
			case REENTRY_AFTER_LOSS -> "before the body of the nested call could start";
			case LOST_WHILE_ACQUIRING -> "while the other locks of the request were acquired; its body has not started";
			default -> "while its holder still worked; results may overlap with the next holder's";
		};
	}

	/**
	 * The key that was lost.
	 * @return the key
	 */
	public LockKey key() {
		return this.key;
	}

	/**
	 * Why it was lost.
	 * @return the reason
	 */
	public LossReason reason() {
		return this.reason;
	}

}
