package io.distributedlock.engine.queue;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.distributedlock.engine.concurrent.EngineEnvironment;
import io.distributedlock.engine.concurrent.Nanos;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.OwnerId;

/**
 * The contest of a {@link KeyQueue} in the store: its contender, the owner id of its next
 * attempt, and when that is due. Guarded by the lock of the queue, but for the contender:
 * only the one attempt under way uses it, and the queue once nothing is under way.
 */
final class KeyContest {

	/** The least pause between two attempts, even if the store allows one at once. */
	private static final long LEAST_PAUSE_NANOS = Duration.ofMillis(1).toNanos();

	private static final long JOIN_PAUSE_NANOS = Duration.ofMillis(5).toNanos();

	private static final long FIRST_FAILURE_PAUSE_NANOS = Duration.ofMillis(20).toNanos();

	private static final long LONGEST_FAILURE_PAUSE_NANOS = Duration.ofSeconds(1).toNanos();

	private @Nullable LockContender contender;

	/**
	 * The owner id for the next grant: kept while busy, dropped once granted or unclear,
	 * or once a release of it is pending, which could end a later grant.
	 */
	private @Nullable OwnerId owner;

	/** Whether the wait queue in the store may have an entry of this process. */
	private boolean enqueued;

	/** Whether the store has told this process to wait, until the instant below. */
	private boolean pausing;

	private long retryAtNanos;

	/** Whether the store was not asked when this process was told to wait. */
	private boolean notAsked;

	/** Whether the store has sent a notification since the last attempt was sent. */
	private boolean notified;

	private long failurePauseNanos = FIRST_FAILURE_PAUSE_NANOS;

	/** Whether the latest attempts have failed, since the instant below. */
	private boolean failing;

	private long failingSinceNanos;

	/** Returns the contender, or {@code null} before the first attempt. */
	@Nullable LockContender contender() {
		return this.contender;
	}

	void setContender(LockContender created) {
		this.contender = created;
	}

	/**
	 * Leaves the contender to the thread that is about to use it, since its attempt was
	 * given up.
	 */
	void detachContender() {
		this.contender = null;
	}

	OwnerId owner(EngineEnvironment environment) {
		OwnerId current = this.owner;
		if (current == null) {
			current = environment.newOwnerId();
			this.owner = current;
		}
		return current;
	}

	/** Whether the wait queue in the store may have an entry of this process. */
	boolean isEnqueued() {
		return this.enqueued;
	}

	/** Whether the next attempt need not wait. */
	boolean isDue(long nowNanos) {
		return !this.pausing || Nanos.isPast(this.retryAtNanos, nowNanos);
	}

	long retryAtNanos() {
		return this.retryAtNanos;
	}

	/** Records that the key may be free. */
	void recordNotified() {
		this.notified = true;
		this.pausing = false;
	}

	void recordSent() {
		this.notified = false;
	}

	void recordBusy(boolean willWait, AttemptResult.Busy busy, long nowNanos) {
		this.failurePauseNanos = FIRST_FAILURE_PAUSE_NANOS;
		this.failing = false;
		if (busy.releasePending()) {
			this.owner = null;
		}
		pauseWhileBusy(willWait, busy.retryAfter(), nowNanos);
	}

	/**
	 * Records an attempt for which the provider did not ask the store: it says nothing of
	 * a store that fails.
	 */
	void recordNotAsked(Duration retryAfter, long nowNanos) {
		pauseWhileBusy(true, retryAfter, nowNanos);
		this.notAsked = true;
	}

	private void pauseWhileBusy(boolean willWait, Duration retryAfter, long nowNanos) {
		this.enqueued |= willWait;
		// Who has not joined the wait queue joins it as soon as somebody waits.
		pause(willWait ? retryAfter.toNanos() : JOIN_PAUSE_NANOS, nowNanos);
	}

	/**
	 * Ends the pause after an attempt that was answered, or not asked.
	 * @return {@code false} if there is none
	 */
	boolean endPauseWhileBusy() {
		boolean ended = this.pausing && (this.notAsked || !this.failing);
		this.pausing &= !ended;
		return ended;
	}

	/** Records an attempt without an answer. Its owner id is never used again. */
	void recordFailure(boolean mayBeEnqueued, long nowNanos) {
		this.owner = null;
		this.enqueued |= mayBeEnqueued;
		if (!this.failing) {
			this.failing = true;
			this.failingSinceNanos = nowNanos;
		}
		pause(this.failurePauseNanos, nowNanos);
		this.failurePauseNanos = Math.min(2 * this.failurePauseNanos, LONGEST_FAILURE_PAUSE_NANOS);
	}

	/** Returns for how long all attempts have failed, zero if the latest was answered. */
	long failingNanos(long nowNanos) {
		return this.failing ? nowNanos - this.failingSinceNanos : 0;
	}

	/** Records that the wait queue may have an entry, as an attempt without an end. */
	void recordEnqueued(boolean mayBeEnqueued) {
		this.enqueued |= mayBeEnqueued;
	}

	/** Records a grant, which removes the entry from the wait queue. */
	void recordGrant() {
		this.owner = null;
		this.enqueued = false;
		this.failurePauseNanos = FIRST_FAILURE_PAUSE_NANOS;
		this.failing = false;
	}

	/** Records that this process has released the key: nothing is known of it. */
	void recordEnd() {
		this.pausing = false;
	}

	private void pause(long nanos, long nowNanos) {
		this.pausing = true;
		this.notAsked = false;
		this.retryAtNanos = nowNanos + (this.notified ? LEAST_PAUSE_NANOS : Math.max(nanos, LEAST_PAUSE_NANOS));
	}

}
