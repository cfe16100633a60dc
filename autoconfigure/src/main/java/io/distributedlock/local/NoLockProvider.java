package io.distributedlock.local;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

import io.distributedlock.LockKey;
import io.distributedlock.LockMode;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * A provider that locks nothing: every request is granted at once, whether or not the key
 * is held. Used only where it is chosen by name.
 * <p>
 * Its orders are microseconds since the epoch, as those of the stores are, and rise with
 * every grant. A resource that has seen the tokens of a store therefore accepts those
 * that follow, and tokens do not fall when the machine restarts. Safe for use by many
 * threads.
 *
 * @since 0.1.0
 */
public final class NoLockProvider implements LockProvider {

	private final RisingOrders orders = new RisingOrders();

	private final LongSupplier epochMicros;

	/** Creates a provider. */
	public NoLockProvider() {
		this(() -> ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()));
	}

	NoLockProvider(LongSupplier epochMicros) {
		this.epochMicros = epochMicros;
	}

	@Override
	public boolean isExclusive() {
		return false;
	}

	@Override
	public boolean isBlocking() {
		return false;
	}

	@Override
	public String name() {
		return "none";
	}

	@Override
	public LockContender newContender(LockKey key, Runnable onNotified) {
		return new LockContender() {

			@Override
			public StoreCall<AttemptResult> attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
				long order = NoLockProvider.this.orders.next(NoLockProvider.this.epochMicros.getAsLong());
				return AnsweredStoreCall.of(new AttemptResult.Granted(new LockGrant(key, owner, order, lease)));
			}

			@Override
			public StoreCall<ReleaseOutcome> withdraw(Duration timeout) {
				return AnsweredStoreCall.of(ReleaseOutcome.RELEASED);
			}

		};
	}

	@Override
	public boolean supports(LockMode mode) {
		return true;
	}

	@Override
	public LockContender newShareContender(LockKey key, int limit, Runnable onNotified) {
		return newContender(key, onNotified);
	}

	@Override
	public StoreCall<Map<LockGrant, RenewalOutcome>> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		Map<LockGrant, RenewalOutcome> outcomes = new LinkedHashMap<>(leases.size() * 2);
		leases.keySet().forEach((grant) -> outcomes.put(grant, RenewalOutcome.RENEWED));
		return AnsweredStoreCall.of(outcomes);
	}

	/**
	 * Whether a shortest hold is accepted.
	 * @return {@code true}: it locks as little as everything else
	 */
	@Override
	public boolean supportsMinHold() {
		return true;
	}

	@Override
	public StoreCall<ReleaseOutcome> release(LockKey key, OwnerId owner, Duration keepFor, Duration timeout) {
		return AnsweredStoreCall.of(ReleaseOutcome.RELEASED);
	}

	@Override
	public void check(Duration timeout) {
	}

}
