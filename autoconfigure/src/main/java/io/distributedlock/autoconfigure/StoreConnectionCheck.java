package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockProviderException;
import io.distributedlock.autoconfigure.LockEngines.Engine;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockProvider;

/**
 * Check of the stores at start, once each, when all singletons and with them the
 * database's schema are ready. Until then nothing connects to a store. A mistake fails
 * the start; a store that is down fails it only with
 * {@code distributed-lock.fail-fast=true}.
 *
 * @param locations what is known of the stores
 * @param callTimeout how long a call to a store may take
 * @param failFast whether a store that is down fails the start
 */
record StoreConnectionCheck(List<LockStoreLocation> locations, Duration callTimeout, boolean failFast) {

	private static final Log logger = LogFactory.getLog(StoreConnectionCheck.class);

	/** Checks the stores one after the other. */
	void check(List<Engine> engines) {
		engines.forEach((engine) -> check(engine.provider()));
	}

	private void check(LockProvider provider) {
		LockStoreLocation location = LockStoreLocation.find(provider, this.locations);
		Duration timeout = timeout((location != null) ? location.startTimeout() : LockStoreLocation.START_TIMEOUT);
		try {
			awaitFirstAnswer(provider, timeout);
		}
		catch (LockConfigurationException ex) {
			throw ex;
		}
		catch (LockException ex) {
			boolean late = ex.error() == LockError.STORE_TIMEOUT;
			report(provider, ex, late ? " within " + timeout.toMillis() + " ms" : "",
					(late && location != null) ? location.timeoutAdvice() : null);
		}
	}

	private Duration timeout(Duration ofStore) {
		return (this.callTimeout.compareTo(ofStore) > 0) ? this.callTimeout : ofStore;
	}

	/** Repeats a check that ended sooner, as by the time-out of a pool. */
	private void awaitFirstAnswer(LockProvider provider, Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		Duration left = timeout;
		while (true) {
			try {
				provider.check(left);
				return;
			}
			catch (LockProviderException ex) {
				if (ex.error() != LockError.STORE_TIMEOUT || deadline.isPast()) {
					throw ex;
				}
				left = deadline.remaining();
			}
		}
	}

	private void report(LockProvider provider, LockException failure, String within, @Nullable String advice) {
		if (this.failFast) {
			throw new LockConfigurationException(LockError.STORE_DOWN_AT_START,
					"The lock store '" + provider.name() + "' did not answer at start" + within + ": "
							+ failure.getMessage(),
					(advice != null) ? advice
							: "Bring the store up first, or set distributed-lock.fail-fast=false to start without it",
					failure);
		}
		if (advice != null) {
			logger.info(advice);
		}
		logger.warn("The lock store '" + provider.name() + "' did not answer at start" + within
				+ "; locked methods fail until it does"
				+ (within.isEmpty() ? "" : " (a starting process may be slow itself)") + ": " + failure.getMessage());
	}

}
