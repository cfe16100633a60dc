package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.redis.AttemptReply;
import io.distributedlock.redis.script.RedisLockKeys;

/**
 * This process as a contender for one lock of a quorum. The nodes keep no wait queue in
 * common: it asks again after random pauses, which grow while the holder stays the same.
 */
final class QuorumContender implements LockContender {

	/** The longest pause between two attempts. */
	static final Duration LONGEST_PAUSE = Duration.ofMillis(250);

	private static final Duration SHORTEST_PAUSE = Duration.ofMillis(10);

	private final Quorum quorum;

	private final LockKey key;

	private final RedisLockKeys keys;

	private final Duration maxLease;

	/** The holder that the last attempt found; changed under the monitor. */
	private volatile @Nullable String holder;

	/** The longest pause after the next attempt; guarded by the monitor. */
	private long pauseNanos;

	QuorumContender(Quorum quorum, LockKey key, RedisLockKeys keys, Duration maxLease) {
		this.quorum = quorum;
		this.key = key;
		this.keys = keys;
		this.maxLease = maxLease;
	}

	@Override
	public StoreCall<AttemptResult> attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
		if (lease.compareTo(this.maxLease) > 0) {
			return AnsweredStoreCall.failed(new LockConfigurationException(LockError.INVALID_LEASE,
					"Lock '" + this.key + "' was requested with a lease of " + lease
							+ ", but the quorum of Redis servers keeps none for longer than " + this.maxLease,
					"Use a shorter lease, which is renewed, or raise " + RedisQuorumSettings.MAX_LEASE));
		}
		return QuorumAttempt.send(this.quorum, new QuorumRequest(this.key, this.keys, owner, lease,
				Deadline.after(timeout), this.holder != null, this::busy));
	}

	/**
	 * Returns the answer that the lock is busy, with a pause until the next attempt.
	 * @param found the reply that shows the holder, or {@code null}
	 * @param releasePending whether a release of the owner may be under way
	 */
	private synchronized AttemptResult.Busy busy(@Nullable AttemptReply found, boolean releasePending) {
		String owner = (found != null) ? found.owner() : null;
		if (owner == null || !owner.equals(this.holder)) {
			this.pauseNanos = SHORTEST_PAUSE.toNanos();
		}
		this.holder = owner;
		long longest = this.pauseNanos;
		this.pauseNanos = Math.min(longest * 2, LONGEST_PAUSE.toNanos());
		Duration retryAfter = Duration.ofNanos(longest / 2 + ThreadLocalRandom.current().nextLong(longest / 2));
		LockHolder known = (found != null) ? found.holder() : null;
		Duration remaining = (known != null) ? known.remaining() : null;
		return new AttemptResult.Busy(
				(remaining != null && remaining.compareTo(retryAfter) < 0) ? remaining : retryAfter, known, true,
				releasePending);
	}

	/** There is no wait queue, and so no entry in it. */
	@Override
	public StoreCall<ReleaseOutcome> withdraw(Duration timeout) {
		return AnsweredStoreCall.of(ReleaseOutcome.NOT_HELD);
	}

}
