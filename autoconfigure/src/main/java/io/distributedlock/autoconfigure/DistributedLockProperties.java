package io.distributedlock.autoconfigure;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.interceptor.LockAdvisor;
import io.distributedlock.support.LockSettings;

/**
 * The properties that hold for every store.
 *
 * @param provider The store that keeps the locks, by its provider's name; 'local' keeps
 * them in this process alone and 'none' locks nothing. Unset means the only candidate.
 * @param keyPrefix What comes before every key in the store, so that applications can
 * share it; the default is 'spring.application.name'.
 * @param lease How long the store keeps a lock unless it is renewed.
 * @param waitTime How long to wait for a busy lock.
 * @param maxHold After which time of holding renewal stops; unlimited by default.
 * @param callTimeout How long one round trip to the store may take.
 * @param renewal How held locks are renewed.
 * @param shutdown How locking ends when the application does.
 * @param aop How annotated methods are intercepted.
 * @param transaction How locks and transactions go together.
 * @param failFast Whether the start fails when the store does not answer.
 * @since 0.1.0
 */
@ConfigurationProperties("distributed-lock")
public record DistributedLockProperties(@Nullable String provider, @Nullable String keyPrefix,
		@DefaultValue("30s") Duration lease, @DefaultValue("5s") Duration waitTime, @Nullable Duration maxHold,
		@DefaultValue("1s") Duration callTimeout, @DefaultValue Renewal renewal, @DefaultValue Shutdown shutdown,
		@DefaultValue Aop aop, @DefaultValue Transaction transaction, @DefaultValue("false") boolean failFast) {

	private static final LockSettings DEFAULTS = LockSettings.defaults();

	public DistributedLockProperties {
		require("lease", () -> DEFAULTS.withLease(lease));
		require("wait-time", () -> DEFAULTS.withWaitTime(waitTime));
		require("max-hold", () -> DEFAULTS.withMaxHold(maxHold));
		require("call-timeout", () -> DEFAULTS.withCallTimeout(callTimeout));
		if (keyPrefix != null && (keyPrefix.indexOf('{') >= 0 || keyPrefix.indexOf('}') >= 0)) {
			throw invalid("key-prefix", "'" + keyPrefix + "'", "but braces would split keys in a clustered store",
					"Use letters, digits, '-' and '.'");
		}
	}

	/** The settings of the engine. */
	LockSettings toSettings() {
		Double fraction = this.renewal.fraction();
		return new LockSettings(this.lease, this.waitTime, this.maxHold, this.callTimeout,
				(fraction != null) ? fraction : DEFAULTS.renewalFraction());
	}

	/** Names the property of a setting that is refused. */
	private static void require(String property, Runnable setting) {
		try {
			setting.run();
		}
		catch (LockConfigurationException ex) {
			throw new LockConfigurationException(ex.error(),
					"Property distributed-lock." + property + ": " + ex.problem(), ex.action());
		}
	}

	static LockConfigurationException invalid(String property, Object value, String why, String action) {
		return new LockConfigurationException(LockError.INVALID_PROPERTY,
				"The property distributed-lock." + property + " is " + value + ", " + why, action);
	}

	/**
	 * How held locks are renewed.
	 *
	 * @param fraction The part of a lease after which it is renewed, more than 0 and at
	 * most 0.5; a third by default.
	 */
	public record Renewal(@Nullable Double fraction) {

		public Renewal {
			if (fraction != null) {
				require("renewal.fraction", () -> DEFAULTS.withRenewalFraction(fraction));
			}
		}

	}

	/**
	 * How locking ends when the application does.
	 *
	 * @param gracePeriod How long held locks are renewed while their methods finish; the
	 * default is 'spring.lifecycle.timeout-per-shutdown-phase'.
	 */
	public record Shutdown(@Nullable Duration gracePeriod) {

		public Shutdown {
			if (gracePeriod != null && gracePeriod.isNegative()) {
				throw invalid("shutdown.grace-period", gracePeriod, "but cannot be negative",
						"Use 0 to stop without waiting for running methods");
			}
		}

	}

	/**
	 * How annotated methods are intercepted.
	 *
	 * @param order The order of the lock's advisor, which must be below that of
	 * transactions.
	 */
	public record Aop(@DefaultValue("" + LockAdvisor.DEFAULT_ORDER) int order) {
	}

	/**
	 * How locks and transactions go together.
	 *
	 * @param commitGuard Whether a transaction under a lost lock is rolled back.
	 */
	public record Transaction(@DefaultValue("true") boolean commitGuard) {
	}

}
