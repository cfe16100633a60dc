package io.distributedlock.support;

import java.time.Duration;

import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;

/** Withdrawal of a contender in the {@link PendingReleaseQueue}, which closes it then. */
record WithdrawCommand(LockContender contender) implements PendingRelease.Command {

	@Override
	public StoreCall<ReleaseOutcome> send(Duration timeout) {
		return this.contender.withdraw(timeout);
	}

	@Override
	public void close() {
		this.contender.close();
	}

}
