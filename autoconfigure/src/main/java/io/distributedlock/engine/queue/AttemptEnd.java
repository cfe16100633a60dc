package io.distributedlock.engine.queue;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AttemptResult;

/**
 * The end of an attempt.
 */
sealed interface AttemptEnd {

	/** Classifies a failure. */
	static Failed failed(Throwable failure, boolean mayHaveBeenSent) {
		boolean unclear = (failure instanceof LockProviderException known) ? known.isEffectUnknown()
				: !(failure instanceof LockConfigurationException);
		return new Failed(failure, unclear && mayHaveBeenSent);
	}

	/**
	 * The store has answered.
	 *
	 * @param result the answer
	 */
	record Answered(AttemptResult result) implements AttemptEnd {
	}

	/**
	 * There is no answer.
	 *
	 * @param failure the reason
	 * @param unclear whether the attempt may have taken effect
	 */
	record Failed(Throwable failure, boolean unclear) implements AttemptEnd {

		/** Whether the call took too long. */
		boolean isTimeout() {
			return this.failure instanceof LockProviderException known && known.error() == LockError.STORE_TIMEOUT;
		}

		/**
		 * Returns the failure with the reason that an earlier attempt knew.
		 * @param earlier the failure of that attempt
		 */
		Throwable after(LockProviderException earlier) {
			if (!(this.failure instanceof LockProviderException known) || known.problem().equals(earlier.problem())) {
				return this.failure;
			}
			String problem = known.problem() + "; an earlier attempt failed: it " + earlier.problem();
			LockProviderException explained = known.isEffectUnknown()
					? new LockProviderException(known.error(), known.provider(), problem, earlier)
					: LockProviderException.nothingSent(known.error(), known.provider(), problem, earlier);
			explained.addSuppressed(known);
			return explained;
		}

		/** Whether the same attempt may succeed soon. */
		boolean mayPass() {
			return this.failure instanceof LockProviderException known && known.isTransient();
		}

	}

}
