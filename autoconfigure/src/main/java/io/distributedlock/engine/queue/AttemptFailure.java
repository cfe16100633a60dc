package io.distributedlock.engine.queue;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;

/**
 * The end of an attempt without an answer.
 *
 * @param cause the reason
 * @param unclear whether the attempt may have taken effect
 */
record AttemptFailure(Throwable cause, boolean unclear) {

	/** Classifies what a call has thrown. */
	static AttemptFailure of(Throwable cause, boolean mayHaveBeenSent) {
		boolean unclear = (cause instanceof LockProviderException known) ? known.isEffectUnknown()
				: !(cause instanceof LockConfigurationException);
		return new AttemptFailure(cause, unclear && mayHaveBeenSent);
	}

	/** Whether the call took too long. */
	boolean isTimeout() {
		return this.cause instanceof LockProviderException known && known.error() == LockError.STORE_TIMEOUT;
	}

	/** Whether the same attempt may succeed soon. */
	boolean mayPass() {
		return this.cause instanceof LockProviderException known && known.isTransient();
	}

	/**
	 * Returns the failure with the reason that an earlier attempt knew.
	 * @param earlier the failure of that attempt
	 */
	Throwable after(LockProviderException earlier) {
		if (!(this.cause instanceof LockProviderException known) || known.problem().equals(earlier.problem())) {
			return this.cause;
		}
		String problem = known.problem() + "; an earlier attempt failed: it " + earlier.problem();
		LockProviderException explained = known.isEffectUnknown()
				? new LockProviderException(known.error(), known.provider(), problem, earlier)
				: LockProviderException.nothingSent(known.error(), known.provider(), problem, earlier);
		explained.addSuppressed(known);
		return explained;
	}

}
