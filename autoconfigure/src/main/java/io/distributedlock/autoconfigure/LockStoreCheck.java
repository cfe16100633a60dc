package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockProvider;

/**
 * Check of the stores at start, once each, when all singletons and with them the
 * database's schema are ready. A mistake fails the start; a store that is down fails it
 * only with {@code distributed-lock.fail-fast=true}.
 * <p>
 * Until then nothing connects to a store but an engine of Redis that a singleton needs
 * earlier. It opens its first connection before any call can begin whose time that would
 * count against.
 */
final class LockStoreCheck {

	private static final Log logger = LogFactory.getLog(LockStoreCheck.class);

	private final List<LockStoreLocation> locations;

	private final Duration callTimeout;

	private final boolean failFast;

	private final Map<LockProvider, Deadline> begun;

	/**
	 * Creates a check.
	 * @param begun the ends of the waits for first answers that began before it, for use
	 * by many threads
	 */
	LockStoreCheck(List<LockStoreLocation> locations, Duration callTimeout, boolean failFast,
			Map<LockProvider, Deadline> begun) {
		this.begun = begun;
		this.locations = locations;
		this.callTimeout = callTimeout;
		this.failFast = failFast;
	}

	/** Checks the stores one after the other. */
	void check(List<ProviderEngine> engines) {
		engines.forEach((engine) -> check(engine.provider()));
	}

	/**
	 * Opens the first connection of a provider, which the check does not wait for again.
	 * A failure is left to the check, or to the call that follows.
	 */
	void connect(LockProvider provider) {
		Duration timeout = timeout(location(provider));
		this.begun.put(provider, Deadline.after(timeout));
		try {
			awaitFirstAnswer(provider, timeout);
		}
		catch (LockException ex) {
			logger.debug("The lock store '" + provider.name() + "' cannot be used yet", ex);
		}
	}

	private void check(LockProvider provider) {
		LockStoreLocation location = location(provider);
		Duration timeout = timeout(location);
		Deadline begun = this.begun.remove(provider);
		try {
			awaitFirstAnswer(provider, (begun != null) ? longer(begun.remaining(), this.callTimeout) : timeout);
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

	private @Nullable LockStoreLocation location(LockProvider provider) {
		return this.locations.stream().filter((own) -> own.provider().equals(provider.name())).findFirst().orElse(null);
	}

	private Duration timeout(@Nullable LockStoreLocation location) {
		Duration ofStore = (location != null) ? location.startTimeout() : LockStoreLocation.START_TIMEOUT;
		return longer(ofStore, this.callTimeout);
	}

	private static Duration longer(Duration one, Duration other) {
		return (one.compareTo(other) < 0) ? other : one;
	}

	/** Repeats a check that ended sooner, as by the time-out of a pool. */
	private void awaitFirstAnswer(LockProvider provider, Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		while (true) {
			try {
				provider.check(deadline.remaining());
				return;
			}
			catch (LockProviderException ex) {
				if (ex.error() != LockError.STORE_TIMEOUT || deadline.isPast()) {
					throw ex;
				}
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
