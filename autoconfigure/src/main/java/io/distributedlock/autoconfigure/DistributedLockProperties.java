package io.distributedlock.autoconfigure;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.annotation.Lazy;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.interceptor.LockAdvisor;

/**
 * Properties that apply to every store.
 *
 * @param provider Name of the provider that keeps the locks; 'local' keeps them in this
 * process alone and 'none' locks nothing. Unset means the only candidate.
 * @param keyPrefix Prefix of every key in the store, so that applications can share it;
 * the default is 'spring.application.name'.
 * @param lease Time for which the store keeps a lock unless it is renewed.
 * @param waitTime Longest wait for a busy lock.
 * @param maxHold Time of holding after which renewal stops; unlimited by default.
 * @param callTimeout Longest time for one round trip to the store.
 * @param shutdown Shutdown of locking with the application.
 * @param aop Interception of annotated methods.
 * @param transaction Locks and transactions together.
 * @param web Answers of a web application to exceptions of locks.
 * @param failFast Whether the start fails when the store does not answer.
 * @since 0.1.0
 */
@Lazy
@ConfigurationProperties("distributed-lock")
public record DistributedLockProperties(@Nullable String provider, @Nullable String keyPrefix,
		@DefaultValue("30s") Duration lease, @DefaultValue("5s") Duration waitTime, @Nullable Duration maxHold,
		@DefaultValue("1s") Duration callTimeout, @DefaultValue HandOff handOff, @DefaultValue Shutdown shutdown,
		@DefaultValue Aop aop, @DefaultValue Transaction transaction, @DefaultValue Web web,
		@DefaultValue("false") boolean failFast) {

	private static final LockSettings DEFAULTS = LockSettings.defaults();

	public DistributedLockProperties {
		require("lease", () -> DEFAULTS.withLease(lease));
		require("wait-time", () -> DEFAULTS.withWaitTime(waitTime));
		require("max-hold", () -> DEFAULTS.withMaxHold(maxHold));
		require("call-timeout", () -> DEFAULTS.withCallTimeout(callTimeout));
		requireBelowRenewal(transaction.commitMargin(), lease);
		if (keyPrefix != null && (keyPrefix.indexOf('{') >= 0 || keyPrefix.indexOf('}') >= 0)) {
			throw invalid("key-prefix", "'" + keyPrefix + "'", "but braces would split keys in a clustered store",
					"Use letters, digits, '-' and '.'");
		}
	}

	/**
	 * Requires that a lock has more left of its lease than the margin whenever it is
	 * renewed in time. Otherwise commits would be refused by chance, or always.
	 */
	private static void requireBelowRenewal(Duration margin, Duration lease) {
		long left = (long) (lease.toMillis() * (1 - DEFAULTS.renewalFraction()));
		if (margin.compareTo(Duration.ofMillis(left)) >= 0) {
			throw invalid("transaction.commit-margin", margin,
					"but of a lease of " + lease.toMillis() + " ms only " + left + " ms are left when it is renewed",
					"Use less than " + left + "ms, or a longer distributed-lock.lease");
		}
	}

	/** Returns the settings of the engine. */
	LockSettings toSettings() {
		return DEFAULTS.withLease(this.lease)
			.withWaitTime(this.waitTime)
			.withMaxHold(this.maxHold)
			.withCallTimeout(this.callTimeout)
			.withMaxHandOffTime(this.handOff.orNever());
	}

	/** Requires that a setting is accepted, and names its property if not. */
	private static void require(String property, Runnable setting) {
		try {
			setting.run();
		}
		catch (LockConfigurationException ex) {
			throw new LockConfigurationException(ex.error(),
					"Property distributed-lock." + property + ": " + ex.problem(), ex.action());
		}
	}

	public static LockConfigurationException invalid(String property, Object value, String why, String action) {
		return new LockConfigurationException(LockError.INVALID_PROPERTY,
				"The property distributed-lock." + property + " is " + value + ", " + why, action);
	}

	/**
	 * Hand-off of a lock from one request of a process to the next one.
	 *
	 * @param maxTime How long after its grant a lock is handed off inside a process,
	 * without a round trip to the store, before other processes get their turn; 0 for
	 * never. A lock whose lease is shorter than 20 times that is never handed off.
	 */
	public record HandOff(@DefaultValue("20ms") Duration maxTime) {

		public HandOff {
			if (!maxTime.isZero()) {
				require("hand-off.max-time", () -> DEFAULTS.withMaxHandOffTime(maxTime));
			}
		}

		private @Nullable Duration orNever() {
			return this.maxTime.isZero() ? null : this.maxTime;
		}

	}

	/**
	 * Shutdown of locking with the application.
	 *
	 * @param gracePeriod Time for which held locks are renewed while their methods
	 * finish; the default is 'spring.lifecycle.timeout-per-shutdown-phase'.
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
	 * Interception of annotated methods.
	 *
	 * @param order Order of the lock's advisor, which must be below that of transactions.
	 */
	public record Aop(@DefaultValue("" + LockAdvisor.DEFAULT_ORDER) int order) {
	}

	/**
	 * Locks and transactions together.
	 *
	 * @param release When a lock that is acquired inside a running transaction is
	 * released.
	 * @param commitGuard Whether a transaction under a lost lock is rolled back.
	 * @param commitMargin Time that has to be left of a lock's lease for the commit guard
	 * to let a transaction commit.
	 */
	public record Transaction(@DefaultValue("after-completion") Release release,
			@DefaultValue("true") boolean commitGuard, @DefaultValue("0s") Duration commitMargin) {

		public Transaction {
			if (commitMargin.isNegative()) {
				throw invalid("transaction.commit-margin", commitMargin, "but cannot be negative",
						"Use 0 to check only that locks are held");
			}
		}

		/** When a lock that is acquired inside a running transaction is released. */
		public enum Release {

			/** After that transaction was committed or rolled back. */
			AFTER_COMPLETION,
			/** When the method returns, before an outer transaction commits. */
			AT_METHOD_END

		}

	}

	/**
	 * Answers of a web application to exceptions of locks.
	 *
	 * @param enabled Whether a busy lock that leaves a controller is answered with 409, a
	 * store that cannot answer with 503, and a key that the values of the call make wrong
	 * with 400.
	 */
	public record Web(@DefaultValue("true") boolean enabled) {
	}

}
