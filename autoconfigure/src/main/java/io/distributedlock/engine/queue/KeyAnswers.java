package io.distributedlock.engine.queue;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProviderException;
import io.distributedlock.engine.grant.RequestOutcome;

/**
 * What the waiters of a key can conclude from: the answers of the store, its failures,
 * and the grants of this process that have ended. Guarded by the lock of the
 * {@link KeyQueue}.
 */
final class KeyAnswers {

	private long count;

	private @Nullable RequestOutcome latest;

	/** The latest failure that tells why the store failed, since its last answer. */
	private @Nullable LockProviderException reason;

	/** The count when the reason was recorded, to compare with a waiter's arrival. */
	private long reasonCount;

	/** KeyRequests whose wait time is over, and who wait only for the next answer. */
	private @Nullable List<KeyRequest> overdue;

	/** Returns the latest answer, or {@code null} if there is none or it was a grant. */
	@Nullable RequestOutcome latest() {
		return this.latest;
	}

	/** Remembers what was known when a waiter arrived. */
	void recordArrival(KeyRequest waiter) {
		waiter.answersAtArrival = this.count;
	}

	/** Whether there was an answer since a waiter arrived. */
	boolean areNewFor(KeyRequest waiter) {
		return this.count != waiter.answersAtArrival;
	}

	/**
	 * Returns how a waiter ends that no attempt has reached in time: others of the
	 * process may have been granted shares since it came.
	 */
	RequestOutcome end(KeyRequest waiter, LockProviderException unanswered) {
		return areNewFor(waiter) ? new RequestOutcome.Busy(null) : new RequestOutcome.Failed(unanswered);
	}

	/** Adds a waiter that ends with the next answer. */
	void addOverdue(KeyRequest waiter) {
		if (waiter.overdue) {
			return;
		}
		waiter.overdue = true;
		if (this.overdue == null) {
			this.overdue = new ArrayList<>();
		}
		this.overdue.add(waiter);
	}

	/** Whether a waiter ends with the next answer. */
	boolean hasOverdue() {
		return this.overdue != null;
	}

	/**
	 * Records a failure, and signals those that are overdue. An attempt that was not
	 * sent, or got less than its time, does not know why the store failed: one before it
	 * may.
	 * @param failure the end of the attempt
	 * @param attempt the attempt
	 * @param head the first waiter, or {@code null} if there is none
	 * @param lock the lock of the queue
	 * @return what the first waiter is told
	 */
	RequestOutcome recordFailure(AttemptFailure failure, StoreAttempt attempt, @Nullable KeyRequest head,
			QueueMutex lock) {
		boolean knowsWhy = !failure.isTimeout()
				|| !(attempt.isPrepared() || (attempt.isCut() && failure.cause().getCause() == null));
		LockProviderException before = this.reason;
		boolean isNew = head != null && this.reasonCount > head.answersAtArrival;
		RequestOutcome outcome = new RequestOutcome.Failed(
				(knowsWhy || before == null || !isNew) ? failure.cause() : failure.after(before));
		record(outcome, lock);
		if (!knowsWhy) {
			this.reason = before;
		}
		else if (failure.cause() instanceof LockProviderException known) {
			this.reason = known;
			this.reasonCount = this.count;
		}
		return outcome;
	}

	/** Records an answer, and signals those that are overdue. */
	void record(@Nullable RequestOutcome answer, QueueMutex lock) {
		this.latest = answer;
		this.reason = null;
		this.count++;
		if (this.overdue != null) {
			for (KeyRequest waiter : this.overdue) {
				waiter.overdue = false;
				lock.follow(waiter::signal);
			}
			this.overdue = null;
		}
	}

}
