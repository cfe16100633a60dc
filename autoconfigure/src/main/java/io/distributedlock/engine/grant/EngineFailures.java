package io.distributedlock.engine.grant;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockMode;
import io.distributedlock.LockProviderException;

/**
 * The failures that the engine itself reports, with their messages.
 *
 * @param provider the name of the provider
 */
public record EngineFailures(String provider) {

	public LockProviderException shuttingDown(LockKey key) {
		return LockProviderException.nothingSent(LockError.SHUTTING_DOWN, this.provider,
				"grants no locks any more: the application is shutting down, and lock '" + key + "' was not acquired",
				null);
	}

	/**
	 * A mode in which the store grants no locks.
	 * @param what what has the mode, the beginning of a sentence
	 */
	public LockConfigurationException unsupported(LockMode mode, String what) {
		return new LockConfigurationException(LockError.MODE_UNSUPPORTED,
				what + " in the mode " + mode + ", in which the store '" + this.provider + "' grants no locks",
				"Request the lock exclusively, or keep it in a store that has this mode (docs/choosing-a-store.md)");
	}

	/** A call that was sent and has no answer. */
	public LockProviderException timedOut() {
		return new LockProviderException(LockError.STORE_TIMEOUT, this.provider,
				"did not answer in time (distributed-lock.call-timeout)", null);
	}

	/** A renewal that was sent and has no answer. */
	public LockProviderException renewalTimedOut() {
		return new LockProviderException(LockError.STORE_TIMEOUT, this.provider,
				"did not answer in time (distributed-lock.call-timeout, or a sixth of the lease if that is shorter)",
				null);
	}

	/**
	 * A request whose time is over before the store has answered it.
	 * @param latest the latest answer to another request
	 */
	public LockProviderException unanswered(LockKey key, @Nullable RequestOutcome latest) {
		Throwable cause = (latest instanceof RequestOutcome.Failed failed) ? failed.failure() : null;
		return LockProviderException.nothingSent(LockError.STORE_TIMEOUT, this.provider,
				"has not answered in time whether lock '" + key + "' is free", cause);
	}

	/** A request whose time is over before a thread was free to ask the store. */
	public LockProviderException notAsked(LockKey key) {
		return LockProviderException.nothingSent(LockError.STORE_TIMEOUT, this.provider,
				"was not asked whether lock '" + key + "' is free: all threads 'distributed-lock-" + this.provider
						+ "-io-attempt' were busy with other requests for the whole time. Use a longer wait time",
				null);
	}

	/** A failure for one more request, whose caller gets an exception of its own. */
	public RequestOutcome again(LockKey key, RequestOutcome.Failed failed) {
		return (failed.failure() instanceof LockProviderException known)
				? new RequestOutcome.Failed(LockProviderException.nothingSent(known.error(), this.provider,
						"did not answer for lock '" + key + "' within the wait time: it " + known.problem(), known))
				: failed;
	}

	public LockProviderException noThread(Throwable cause) {
		return LockProviderException.nothingSent(LockError.STORE_FAILED, this.provider,
				"could not be called: the JVM cannot create a thread; check its memory and the limit of threads",
				cause);
	}

	public LockProviderException noCallbackThread(LockKey key) {
		return LockProviderException.nothingSent(LockError.STORE_TIMEOUT, this.provider, "granted lock '" + key
				+ "', but no thread 'distributed-lock-callback' was free within the call time-out, so the lock was "
				+ "released. Keep listeners and actions that depend on acquireAsync short, or run them on an executor "
				+ "of your own", null);
	}

	/** Returns what to throw for a failed request: a lock exception as it is. */
	public LockException exception(LockKey key, Throwable failure) {
		return (failure instanceof LockException known) ? known : new LockProviderException(LockError.STORE_FAILED,
				this.provider, "failed while lock '" + key + "' was acquired: " + failure.getMessage(), failure);
	}

}
