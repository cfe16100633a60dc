package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.zookeeper.node.QueueNode;
import io.distributedlock.zookeeper.session.CallDeadline;

/**
 * Withdrawal of a contender from the wait queue of its lock. The queue entry of a later
 * contender stays.
 */
final class WithdrawOperation {

	private static final Log logger = LogFactory.getLog(WithdrawOperation.class);

	/** How long an entry without a contender is kept for the next one. */
	private static final Duration PAUSE = Duration.ofSeconds(1);

	private final ZooKeeperContext components;

	private final LockKey key;

	private final long number;

	/**
	 * Creates the withdrawal.
	 * @param number the number of the contender
	 */
	WithdrawOperation(ZooKeeperContext components, LockKey key, long number) {
		this.components = components;
		this.key = key;
		this.number = number;
	}

	/** Sends the withdrawal. */
	StoreCall<ReleaseOutcome> send(Duration timeout) {
		QueueNode entry = this.components.queueEntries().find(this.key, null);
		if (entry == null || entry.session().hasEnded() || !entry.mayBeWithdrawnBy(this.number)) {
			return AnsweredStoreCall.of(ReleaseOutcome.NOT_HELD);
		}
		CompletableStoreCall<ReleaseOutcome> call = new CompletableStoreCall<>();
		CallDeadline deadline = new CallDeadline(call, timeout, this.components.timer());
		deadline.begin(entry.session());
		call.onAbandon(deadline);
		withdraw(entry, deadline).whenComplete((removed, failure) -> {
			if (failure != null) {
				logger.debug("A queue entry could not be removed", failure);
				call.complete(ReleaseOutcome.UNKNOWN);
			}
			else {
				call.complete(removed ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD);
			}
		});
		return call;
	}

	private CompletableFuture<Boolean> withdraw(QueueNode entry, CallDeadline deadline) {
		QueueEntryRegistry entries = this.components.queueEntries();
		return entries.use(entry, deadline, () -> {
			if (!entry.mayBeWithdrawnBy(this.number)) {
				return CompletableFuture.completedFuture(false);
			}
			return new WaitQueueOperations(entry, this.components.sessions().persistentNodes(), deadline).dequeue()
				.thenApply((removed) -> {
					entries.remove(entry);
					return removed;
				});
		}, () -> CompletableFuture.completedFuture(false));
	}

	/**
	 * Forgets a contender that was perhaps not withdrawn. Nothing refers to it any more;
	 * its queue entry is removed unless another contender soon uses it.
	 */
	void forget() {
		QueueNode entry = this.components.queueEntries().find(this.key, null);
		if (entry == null || !entry.unassign(this.number)) {
			return;
		}
		completeLater();
	}

	private void complete() {
		StoreCall<ReleaseOutcome> call = send(PAUSE);
		if (!call.isDone() || call.result() == ReleaseOutcome.UNKNOWN) {
			later(() -> {
				call.abandon();
				if (!call.isDone() || call.result() == ReleaseOutcome.UNKNOWN) {
					complete();
				}
			});
		}
	}

	private void completeLater() {
		later(this::complete);
	}

	private void later(Runnable step) {
		try {
			this.components.timer().schedule(step, PAUSE);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The timer is closed: a queue entry ends with the session", ex);
		}
	}

}
