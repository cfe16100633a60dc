package io.distributedlock.autoconfigure;

import java.time.Duration;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.SmartInitializingSingleton;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.provider.LockProvider;

/**
 * Check of the stores at start, when all singletons and with them the database's schema
 * are ready. A mistake fails the start; a store that is down fails it only with
 * {@code distributed-lock.fail-fast=true}.
 */
final class LockStoreCheck implements SmartInitializingSingleton {

	/** The first connection of a cold client takes longer than any call after it. */
	private static final Duration START_TIMEOUT = Duration.ofSeconds(3);

	private static final Log logger = LogFactory.getLog(LockStoreCheck.class);

	private final LockEngines engines;

	private final Duration timeout;

	private final boolean failFast;

	LockStoreCheck(LockEngines engines, Duration timeout, boolean failFast) {
		this.engines = engines;
		this.timeout = (timeout.compareTo(START_TIMEOUT) > 0) ? timeout : START_TIMEOUT;
		this.failFast = failFast;
	}

	@Override
	public void afterSingletonsInstantiated() {
		this.engines.createAll();
		this.engines.all().forEach((engine) -> check(engine.provider()));
	}

	private void check(LockProvider provider) {
		try {
			provider.check(this.timeout);
		}
		catch (LockConfigurationException ex) {
			throw ex;
		}
		catch (LockException ex) {
			if (this.failFast) {
				throw new LockConfigurationException(LockError.STORE_DOWN_AT_START,
						"The lock store '" + provider.name() + "' did not answer at start: " + ex.getMessage(),
						"Bring the store up first, or set distributed-lock.fail-fast=false to start without it", ex);
			}
			logger.warn("The lock store '" + provider.name()
					+ "' did not answer at start; locked methods fail until it does: " + ex.getMessage());
		}
	}

}
