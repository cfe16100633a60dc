package io.distributedlock.local;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;

/**
 * Locks nothing: every request is granted at once, with rising orders. The only way to
 * switch locking off, for those who ask for it by name. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class NoLockProvider implements LockProvider {

	private final AtomicLong lastOrder = new AtomicLong(Math.max(0, System.nanoTime() / 1000));

	@Override
	public String name() {
		return "none";
	}

	@Override
	public LockContender enter(LockKey key, Runnable changed) {
		return new FreeContender(key);
	}

	@Override
	public Map<LockGrant, RenewalOutcome> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		Map<LockGrant, RenewalOutcome> outcomes = new LinkedHashMap<>(leases.size() * 2);
		leases.keySet().forEach((grant) -> outcomes.put(grant, RenewalOutcome.RENEWED));
		return outcomes;
	}

	@Override
	public ReleaseOutcome release(LockKey key, OwnerId owner, Duration timeout) {
		return ReleaseOutcome.RELEASED;
	}

	@Override
	public void check(Duration timeout) {
	}

	private final class FreeContender implements LockContender {

		private final LockKey key;

		private FreeContender(LockKey key) {
			this.key = key;
		}

		@Override
		public AttemptResult attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
			return new AttemptResult.Granted(
					new LockGrant(this.key, owner, NoLockProvider.this.lastOrder.incrementAndGet(), lease));
		}

		@Override
		public ReleaseOutcome withdraw(Duration timeout) {
			return ReleaseOutcome.RELEASED;
		}

	}

}
