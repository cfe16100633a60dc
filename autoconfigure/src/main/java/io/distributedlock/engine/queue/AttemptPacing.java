package io.distributedlock.engine.queue;

import java.time.Duration;

import io.distributedlock.engine.concurrent.Nanos;

/**
 * When the next attempt of a {@link KeyContest} is due: after the pause that a busy store
 * has named, or after one that grows while the store fails. Guarded by the lock of the
 * queue.
 */
final class AttemptPacing {

	/** The least pause between two attempts, even if the store allows one at once. */
	private static final long LEAST_PAUSE_NANOS = Duration.ofMillis(1).toNanos();

	private static final long JOIN_PAUSE_NANOS = Duration.ofMillis(5).toNanos();

	private static final long FIRST_FAILURE_PAUSE_NANOS = Duration.ofMillis(20).toNanos();

	private static final long LONGEST_FAILURE_PAUSE_NANOS = Duration.ofSeconds(1).toNanos();

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

	/** Records that the store does not fail. */
	void recordAnswer() {
		this.failurePauseNanos = FIRST_FAILURE_PAUSE_NANOS;
		this.failing = false;
	}

	void recordBusy(boolean willWait, Duration retryAfter, long nowNanos) {
		recordAnswer();
		// Who has not joined the wait queue joins it as soon as somebody waits.
		pause(willWait ? retryAfter.toNanos() : JOIN_PAUSE_NANOS, nowNanos);
	}

	/**
	 * Records an attempt for which the provider did not ask the store: it says nothing of
	 * a store that fails.
	 */
	void recordNotAsked(Duration retryAfter, long nowNanos) {
		pause(retryAfter.toNanos(), nowNanos);
		this.notAsked = true;
	}

	/** Records an attempt without an answer. */
	void recordFailure(long nowNanos) {
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

	/** Records that this process has released the key: nothing is known of it. */
	void recordEnd() {
		this.pausing = false;
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

	private void pause(long nanos, long nowNanos) {
		this.pausing = true;
		this.notAsked = false;
		this.retryAtNanos = nowNanos + (this.notified ? LEAST_PAUSE_NANOS : Math.max(nanos, LEAST_PAUSE_NANOS));
	}

}
