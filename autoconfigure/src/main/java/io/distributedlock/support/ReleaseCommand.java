package io.distributedlock.support;

import java.time.Duration;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * Release of a grant in the {@link PendingReleaseQueue}.
 *
 * @param onAnswer receives each outcome, at last {@link ReleaseOutcome#UNKNOWN}, or
 * {@code null} if nobody wants to know
 */
record ReleaseCommand(LockProvider provider, LockKey key, OwnerId owner,
		@Nullable Consumer<ReleaseOutcome> onAnswer) implements PendingRelease.Command {

	@Override
	public StoreCall<ReleaseOutcome> send(Duration timeout) {
		return this.provider.release(this.key, this.owner, timeout);
	}

	@Override
	public void answered(ReleaseOutcome outcome) {
		if (this.onAnswer != null) {
			this.onAnswer.accept(outcome);
		}
	}

	@Override
	public void close() {
		answered(ReleaseOutcome.UNKNOWN);
	}

}
