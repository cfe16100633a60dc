package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.zookeeper.node.QueueNode;
import io.distributedlock.zookeeper.session.CallDeadline;

/**
 * Contender of this process for one lock. A contender that waits enters the wait queue,
 * watches the node before its entry, and attempts again when that node changes, or after
 * a second. The queue entry of a later contender stays when this one withdraws.
 */
final class ZooKeeperContender implements LockContender {

	private static final Log logger = LogFactory.getLog(ZooKeeperContender.class);

	/** How long an entry without a contender is kept for the next one. */
	private static final Duration PAUSE = Duration.ofSeconds(1);

	private final ZooKeeperContext components;

	private final ContenderId id;

	private final FreeLockCalls freeLockCalls;

	ZooKeeperContender(ZooKeeperContext components, ContenderId id, FreeLockCalls freeLockCalls) {
		this.components = components;
		this.freeLockCalls = freeLockCalls;
		this.id = id;
	}

	@Override
	public StoreCall<AttemptResult> attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
		return new AttemptOperation(this.components, this.id, owner, lease, willWait, timeout).begin();
	}

	@Override
	public StoreCall<AttemptResult> attemptBlocking(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
		return this.freeLockCalls.attempt(this.id, owner, lease, willWait, timeout);
	}

	@Override
	public StoreCall<ReleaseOutcome> withdraw(Duration timeout) {
		QueueNode entry = this.components.queueEntries().find(this.id, null);
		if (entry == null || entry.session().hasEnded() || !entry.mayBeWithdrawnBy(this.id.number())) {
			return AnsweredStoreCall.of(ReleaseOutcome.NOT_HELD);
		}
		QueueEntryRegistry entries = this.components.queueEntries();
		CompletableStoreCall<ReleaseOutcome> call = new CompletableStoreCall<>();
		CallDeadline deadline = new CallDeadline(call, timeout, this.components.timer());
		deadline.begin(entry.session());
		entries.use(entry, deadline, () -> dequeue(entry, deadline), () -> CompletableFuture.completedFuture(false))
			.whenComplete((removed, failure) -> {
				if (failure != null) {
					logger.debug("A queue entry could not be removed", failure);
				}
				call.complete((failure != null) ? ReleaseOutcome.UNKNOWN
						: removed ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD);
			});
		return call;
	}

	private CompletableFuture<Boolean> dequeue(QueueNode entry, CallDeadline deadline) {
		if (!entry.mayBeWithdrawnBy(this.id.number())) {
			return CompletableFuture.completedFuture(false);
		}
		return new WaitQueueOperations(entry, this.components.sessions().persistentNodes(), deadline, false).dequeue()
			.thenApply((removed) -> {
				this.components.queueEntries().remove(entry);
				return removed;
			});
	}

	/**
	 * Forgets this contender, which was perhaps not withdrawn: its queue entry is removed
	 * unless another contender soon uses it.
	 */
	@Override
	public void close() {
		QueueNode entry = this.components.queueEntries().find(this.id, null);
		if (entry != null && entry.unassign(this.id.number())) {
			later(this::withdrawForgotten);
		}
	}

	private void withdrawForgotten() {
		StoreCall<ReleaseOutcome> call = withdraw(PAUSE);
		if (!call.isDone() || call.result() == ReleaseOutcome.UNKNOWN) {
			later(() -> {
				call.abandon();
				if (!call.isDone() || call.result() == ReleaseOutcome.UNKNOWN) {
					withdrawForgotten();
				}
			});
		}
	}

	private void later(Runnable step) {
		// Where the timer is closed, the queue entry ends with the session.
		this.components.timer().scheduleIfOpen(step, PAUSE.toNanos());
	}

}
