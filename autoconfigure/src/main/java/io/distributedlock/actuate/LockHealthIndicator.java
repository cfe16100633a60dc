package io.distributedlock.actuate;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;

import io.distributedlock.LockException;
import io.distributedlock.LockSnapshot;
import io.distributedlock.engine.renewal.RenewalStatus;

/**
 * Health of the store of one provider: up if it could grant a lock now, whether or not
 * any lock is busy.
 * <p>
 * Out of service is a store that answers but grants nothing, such as a read-only replica
 * or one without its table; down is one that does not answer. The state is unknown while
 * locking is stopped. A check asks the store once, and ends within the time-out.
 *
 * @since 0.1.0
 */
public final class LockHealthIndicator implements HealthIndicator {

	private final ManagedProvider provider;

	private final StoreProbe probe;

	/**
	 * Creates an indicator.
	 * @param provider the provider
	 * @param timeout how long a check may take
	 */
	public LockHealthIndicator(ManagedProvider provider, Duration timeout) {
		this.provider = provider;
		this.probe = new StoreProbe(provider.provider(), timeout);
	}

	@Override
	public Health health() {
		Health.Builder health = new Health.Builder().withDetail("provider", this.provider.name());
		if (this.provider.location() != null) {
			health.withDetail("location", this.provider.location());
		}
		if (!this.provider.provider().isExclusive()) {
			health.withDetail("locking", "off");
		}
		if (this.provider.template().isRunning()) {
			probe(health);
		}
		else {
			health.unknown().withDetail("reason", "Locking is stopped");
		}
		LockSnapshot snapshot = this.provider.template().snapshot();
		RenewalStatus renewals = this.provider.template().renewalStatus();
		return health.withDetail("held", snapshot.held().size())
			.withDetail("waiting", snapshot.waiting().size())
			.withDetail("renewalLagMillis", renewals.lag().toMillis())
			.withDetail("renewalFailures", renewals.failures())
			.build();
	}

	private void probe(Health.Builder health) {
		Optional<RuntimeException> failure = this.probe.run();
		Map<String, String> nodes = this.provider.provider().nodeStates();
		if (!nodes.isEmpty()) {
			health.withDetail("nodes", nodes);
		}
		failure.ifPresentOrElse((ex) -> failed(ex, health), health::up);
	}

	/**
	 * Returns the health of a provider that cannot be used at all.
	 * @param failure why, or what was caused by the reason
	 * @return the health, with the status of the failure
	 */
	public static Health failed(RuntimeException failure) {
		Health.Builder health = new Health.Builder();
		failed(failure, health);
		return health.build();
	}

	private static void failed(RuntimeException failure, Health.Builder health) {
		health.status(Status.DOWN).withException(failure);
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof LockException known) {
				health.status(status(known)).withDetail("errorId", known.id());
				return;
			}
		}
	}

	private static Status status(LockException known) {
		return switch (known.error()) {
			case WRITES_REFUSED, TABLE_MISSING, NOT_PERMITTED, NEWER_FORMAT, STORE_TOO_OLD, SESSION_FULL,
					TABLE_UNSUITABLE, STORE_UNSUITABLE, INVALID_PROPERTY ->
				Status.OUT_OF_SERVICE;
			case SHUTTING_DOWN -> Status.UNKNOWN;
			default -> Status.DOWN;
		};
	}

}
