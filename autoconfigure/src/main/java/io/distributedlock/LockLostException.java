package io.distributedlock;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a lock was lost before its holder released it: the lease ended before it
 * was renewed, or the store granted the lock to another owner. Thrown too when the lease
 * ends too soon for a commit ({@link LockError#COMMIT_MARGIN}). Work under the lock may
 * overlap with the work of the next holder; only a {@link FencingToken fenced} resource
 * detects it.
 *
 * @since 0.1.0
 */
public sealed class LockLostException extends LockException permits StaleHolderException {

	private static final long serialVersionUID = 1L;

	private final transient LockKey key;

	private final LossReason reason;

	/**
	 * Creates an exception.
	 * @param error the entry in the error catalogue
	 * @param key the key that was lost
	 * @param reason the reason of the loss
	 * @param cause the cause, or {@code null}
	 */
	public LockLostException(LockError error, LockKey key, LossReason reason, @Nullable Throwable cause) {
		super(error, message(error, key, reason), cause);
		this.key = key;
		this.reason = reason;
	}

	/**
	 * Creates an exception for a lock that is still held, but not for long enough to
	 * commit under it.
	 * @param key the key
	 * @param remaining what is left of its lease
	 * @param margin what the commit requires
	 */
	public LockLostException(LockKey key, Duration remaining, Duration margin) {
		super(LockError.COMMIT_MARGIN, message(key, remaining, margin), null);
		this.key = key;
		this.reason = LossReason.EXPIRED;
	}

	LockLostException(LockError error, String message, LockKey key) {
		super(error, message, null);
		this.key = key;
		this.reason = LossReason.NOT_HELD;
	}

	private static String message(LockKey key, Duration remaining, Duration margin) {
		return "Lock '" + key + "' has " + remaining.toMillis()
				+ " ms left of its lease, less than the commit margin of " + margin.toMillis()
				+ " ms, so that the transaction was not committed. Repeat the call, let the lock be"
				+ " renewed, use a longer lease, or lower distributed-lock.transaction.commit-margin";
	}

	private static String message(LockError error, LockKey key, LossReason reason) {
		return "Lock '" + key + "' was lost (" + reason.description() + ") " + switch (error) {
			case REENTRY_AFTER_LOSS ->
				"before the body of the nested call could start. " + "Repeat the enclosing call, or use a longer lease";
			case LOST_WHILE_ACQUIRING ->
				"while the other locks of the request were acquired; its body has not started. "
						+ "Repeat the call, or use a longer lease";
			default -> "while its holder still worked; results may overlap with the next holder's. "
					+ "Reject late writes with the fencing token, or use a longer lease";
		};
	}

	/**
	 * Returns the key that was lost.
	 * @return the key
	 */
	public final LockKey key() {
		return this.key;
	}

	/**
	 * Returns why it was lost.
	 * @return the reason; {@link LossReason#EXPIRED} for a lease that ends too soon for a
	 * commit
	 */
	public final LossReason reason() {
		return this.reason;
	}

}
