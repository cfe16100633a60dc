package io.distributedlock.redis;

import java.time.Duration;

import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;

/**
 * This process's place in the contest for one lock. It stands in line only once its inbox
 * is known to be open: what is sent before that would be lost.
 */
final class RedisContender implements LockContender {

	private final RedisLockProvider provider;

	private final LockKey key;

	private final RedisLockKeys names;

	private final Runnable changed;

	/** Where this process stands in line, or stood before it was called in vain. */
	private long score;

	/** Whether the store may have a place of this process. */
	private volatile boolean inLine;

	RedisContender(RedisLockProvider provider, LockKey key, RedisLockKeys names, Runnable changed) {
		this.provider = provider;
		this.key = key;
		this.names = names;
		this.changed = changed;
	}

	RedisLockKeys names() {
		return this.names;
	}

	void signal() {
		this.changed.run();
	}

	@Override
	public AttemptResult attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
		long deadline = System.nanoTime() + timeout.toNanos();
		boolean open = willWait && this.provider.inbox().isOpen();
		AttemptResult attempt = ask(owner, lease, open, timeout);
		if (attempt instanceof AttemptResult.Busy && willWait && !open && this.provider.inbox().open(deadline)) {
			Duration left = Duration.ofNanos(deadline - System.nanoTime());
			return (left.isNegative() || left.isZero()) ? attempt : ask(owner, lease, true, left);
		}
		return attempt;
	}

	private AttemptResult ask(OwnerId owner, Duration lease, boolean standInLine, Duration timeout) {
		boolean stoodInLine = this.inLine;
		if (standInLine) {
			this.inLine = true;
			this.provider.waiting().add(this);
		}
		AttemptReply reply;
		try {
			reply = this.provider.attempt(this.names, owner, lease, standInLine ? Long.toString(this.score) : "",
					timeout);
		}
		catch (LockProviderException ex) {
			if (!ex.sent() && !stoodInLine) {
				leave();
			}
			throw ex;
		}
		if (!reply.isGranted()) {
			this.score = (reply.score() > 0) ? reply.score() : this.score;
			return new AttemptResult.Busy(reply.retryAfter(this.inLine), reply.holder());
		}
		leave();
		this.score = 0;
		return new AttemptResult.Granted(new LockGrant(this.key, owner, reply.order(), reply.validity(lease)));
	}

	private void leave() {
		this.inLine = false;
		this.provider.waiting().remove(this);
	}

	@Override
	public ReleaseOutcome withdraw(Duration timeout) {
		if (!this.inLine) {
			return ReleaseOutcome.NOT_HELD;
		}
		// Nobody waits here any more, whatever the server says: what it still reserves
		// for this process is passed on.
		this.provider.waiting().remove(this);
		ReleaseOutcome outcome = this.provider.withdraw(this.names, timeout);
		this.inLine = outcome == ReleaseOutcome.UNKNOWN;
		return outcome;
	}

}
