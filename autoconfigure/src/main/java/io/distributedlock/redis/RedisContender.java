package io.distributedlock.redis;

import java.time.Duration;
import java.util.OptionalLong;

import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;

/**
 * This process as a contender for one lock. It enters the wait queue only while its
 * subscription is active, since earlier notifications would be lost.
 */
final class RedisContender implements LockContender, RedisContenderRegistry.Contender {

	private final LockKey key;

	private final RedisLockKeys keys;

	private final RedisLockRepository repository;

	private final NotificationSubscription subscription;

	private final Runnable changed;

	/** The score of the last entry in the wait queue, kept after a vain notification. */
	private long score;

	/** Whether the wait queue may have an entry of this process. */
	private volatile boolean queued;

	/**
	 * Creates a contender without an entry in the wait queue.
	 * @param changed causes the next attempt; must not block
	 */
	RedisContender(LockKey key, RedisLockKeys keys, RedisLockRepository repository,
			NotificationSubscription subscription, Runnable changed) {
		this.key = key;
		this.keys = keys;
		this.repository = repository;
		this.subscription = subscription;
		this.changed = changed;
	}

	@Override
	public String lockName() {
		return this.keys.name();
	}

	@Override
	public void signal() {
		this.changed.run();
	}

	@Override
	public AttemptResult attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		boolean active = willWait && this.subscription.isActive();
		AttemptResult result = attemptOnce(owner, lease, active, deadline);
		if (result instanceof AttemptResult.Busy && willWait && !active && this.subscription.activate(deadline)) {
			return deadline.isPast() ? result : attemptOnce(owner, lease, true, deadline);
		}
		return result;
	}

	private AttemptResult attemptOnce(OwnerId owner, Duration lease, boolean enqueue, Deadline deadline) {
		boolean queuedBefore = this.queued;
		if (enqueue) {
			this.queued = true;
			this.subscription.register(this);
		}
		AttemptReply reply;
		try {
			reply = this.repository.attempt(this.keys, owner, lease,
					enqueue ? OptionalLong.of(this.score) : OptionalLong.empty(), deadline);
		}
		catch (LockProviderException ex) {
			if (!ex.isEffectUnknown() && !queuedBefore) {
				dequeued();
			}
			throw ex;
		}
		if (!reply.isGranted()) {
			this.score = (reply.score() > 0) ? reply.score() : this.score;
			return new AttemptResult.Busy(reply.retryAfter(this.queued), reply.holder());
		}
		dequeued();
		this.score = 0;
		return new AttemptResult.Granted(new LockGrant(this.key, owner, reply.order(), reply.validity(lease)));
	}

	private void dequeued() {
		this.queued = false;
		this.subscription.unregister(this);
	}

	@Override
	public ReleaseOutcome withdraw(Duration timeout) {
		if (!this.queued) {
			return ReleaseOutcome.NOT_HELD;
		}
		// Not registered any more even if the withdrawal fails: a later reservation is
		// then unwanted, and withdrawn as such.
		this.subscription.unregister(this);
		ReleaseOutcome outcome = this.repository.withdraw(this.keys, timeout);
		this.queued = outcome == ReleaseOutcome.UNKNOWN;
		return outcome;
	}

}
