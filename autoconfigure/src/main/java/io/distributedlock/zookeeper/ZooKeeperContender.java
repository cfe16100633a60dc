package io.distributedlock.zookeeper;

import java.time.Duration;

import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * Contender of this process for one lock. A contender that waits enters the wait queue,
 * watches the node before its entry, and attempts again when that node changes, or after
 * a second.
 */
final class ZooKeeperContender implements LockContender {

	private final ZooKeeperContext components;

	private final ContenderId contention;

	private final FreeLockCalls freeLockCalls;

	ZooKeeperContender(ZooKeeperContext components, ContenderId contention, FreeLockCalls freeLockCalls) {
		this.components = components;
		this.freeLockCalls = freeLockCalls;
		this.contention = contention;
	}

	@Override
	public StoreCall<AttemptResult> attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
		return new AttemptOperation(this.components, this.contention, owner, lease, willWait, timeout).begin();
	}

	@Override
	public StoreCall<AttemptResult> attemptBlocking(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
		return this.freeLockCalls.attempt(this.contention, owner, lease, willWait, timeout);
	}

	@Override
	public StoreCall<ReleaseOutcome> withdraw(Duration timeout) {
		return withdrawal().send(timeout);
	}

	@Override
	public void close() {
		if (this.components.queueEntries().find(this.contention.key(), null) != null) {
			withdrawal().forget();
		}
	}

	private WithdrawOperation withdrawal() {
		return new WithdrawOperation(this.components, this.contention.key(), this.contention.number());
	}

}
