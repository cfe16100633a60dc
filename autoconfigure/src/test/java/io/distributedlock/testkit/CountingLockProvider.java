package io.distributedlock.testkit;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.distributedlock.LockKey;
import io.distributedlock.LockMode;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * Provider that counts its commands.
 */
final class CountingLockProvider implements LockProvider {

	private final LockProvider provider;

	private final AtomicInteger attempts = new AtomicInteger();

	private final AtomicInteger attemptsUnderWay = new AtomicInteger();

	private final AtomicInteger mostAttemptsAtOnce = new AtomicInteger();

	private final AtomicInteger renewals = new AtomicInteger();

	private final AtomicInteger releases = new AtomicInteger();

	private final AtomicInteger withdrawals = new AtomicInteger();

	private final AtomicInteger mostOvertakes = new AtomicInteger();

	private final AtomicInteger grantsOfAll;

	/**
	 * Creates a counting provider.
	 * @param provider the provider
	 * @param grantsOfAll counts the grants of all processes
	 */
	CountingLockProvider(LockProvider provider, AtomicInteger grantsOfAll) {
		this.provider = provider;
		this.grantsOfAll = grantsOfAll;
	}

	int commands() {
		return this.attempts.get() + this.renewals.get() + this.releases.get() + this.withdrawals.get();
	}

	int attempts() {
		return this.attempts.get();
	}

	int mostAttemptsAtOnce() {
		return this.mostAttemptsAtOnce.get();
	}

	/** Returns the most grants that other processes got while this one was queued. */
	int mostOvertakes() {
		return this.mostOvertakes.get();
	}

	int renewals() {
		return this.renewals.get();
	}

	int releases() {
		return this.releases.get();
	}

	@Override
	public String name() {
		return this.provider.name();
	}

	@Override
	public boolean isBlocking() {
		return this.provider.isBlocking();
	}

	@Override
	public Object node(LockKey key) {
		return this.provider.node(key);
	}

	@Override
	public LockContender newContender(LockKey key, Runnable onNotified) {
		return new CountingContender(this.provider.newContender(key, onNotified));
	}

	@Override
	public boolean supports(LockMode mode) {
		return this.provider.supports(mode);
	}

	@Override
	public LockContender newShareContender(LockKey key, int limit, Runnable onNotified) {
		return new CountingContender(this.provider.newShareContender(key, limit, onNotified));
	}

	@Override
	public StoreCall<Map<LockGrant, RenewalOutcome>> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		this.renewals.incrementAndGet();
		return this.provider.renew(leases, timeout);
	}

	@Override
	public boolean supportsMinHold() {
		return this.provider.supportsMinHold();
	}

	@Override
	public StoreCall<ReleaseOutcome> release(LockKey key, OwnerId owner, Duration keepFor, Duration timeout) {
		this.releases.incrementAndGet();
		return this.provider.release(key, owner, keepFor, timeout);
	}

	@Override
	public void check(Duration timeout) {
		this.provider.check(timeout);
	}

	private final class CountingContender implements LockContender {

		private final LockContender contender;

		/** Number of grants when this process joined the wait queue, or -1. */
		private int grantsAtArrival = -1;

		private CountingContender(LockContender contender) {
			this.contender = contender;
		}

		@Override
		public StoreCall<AttemptResult> attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
			return counted(willWait, () -> this.contender.attempt(owner, lease, willWait, timeout));
		}

		@Override
		public StoreCall<AttemptResult> attemptBlocking(OwnerId owner, Duration lease, boolean willWait,
				Duration timeout) {
			return counted(willWait, () -> this.contender.attemptBlocking(owner, lease, willWait, timeout));
		}

		private StoreCall<AttemptResult> counted(boolean willWait, Supplier<StoreCall<AttemptResult>> call) {
			CountingLockProvider.this.attempts.incrementAndGet();
			int underWay = CountingLockProvider.this.attemptsUnderWay.incrementAndGet();
			CountingLockProvider.this.mostAttemptsAtOnce.accumulateAndGet(underWay, Math::max);
			return StoreCalls.watched(call.get(), (attempt, failure) -> {
				CountingLockProvider.this.attemptsUnderWay.decrementAndGet();
				if (attempt != null) {
					answered(attempt, willWait);
				}
			});
		}

		private void answered(AttemptResult attempt, boolean willWait) {
			AtomicInteger grants = CountingLockProvider.this.grantsOfAll;
			if (attempt instanceof AttemptResult.Granted) {
				int before = grants.getAndIncrement();
				if (this.grantsAtArrival >= 0) {
					CountingLockProvider.this.mostOvertakes.accumulateAndGet(before - this.grantsAtArrival, Math::max);
					this.grantsAtArrival = -1;
				}
			}
			else if (willWait && this.grantsAtArrival < 0) {
				this.grantsAtArrival = grants.get();
			}
		}

		@Override
		public StoreCall<ReleaseOutcome> withdraw(Duration timeout) {
			CountingLockProvider.this.withdrawals.incrementAndGet();
			return this.contender.withdraw(timeout);
		}

		@Override
		public void close() {
			this.contender.close();
		}

	}

}
