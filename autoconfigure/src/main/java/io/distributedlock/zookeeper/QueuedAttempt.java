package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.distributedlock.zookeeper.node.AcquireOperation;
import io.distributedlock.zookeeper.node.AttemptAnswer;
import io.distributedlock.zookeeper.node.QueueNode;
import io.distributedlock.zookeeper.session.CallDeadline;
import io.distributedlock.zookeeper.session.LockNodeState;
import io.distributedlock.zookeeper.session.PersistentNodes;
import io.distributedlock.zookeeper.session.ZNode;

/**
 * Attempt from the wait queue of a lock, in a turn of the queue entry. It is made in
 * rounds: each begins again with what the one before has found in the queue.
 */
final class QueuedAttempt {

	/** The pause of a contender without a watch: the shortest time of a reservation. */
	static final Duration POLL_WITHOUT_WATCH = Duration.ofMillis(100);

	/** How often the lock node or the queue may change during one attempt. */
	static final int MAX_ROUNDS = 8;

	/** The pause of a contender whose watch is set. */
	private static final Duration POLL = Duration.ofSeconds(1);

	private final QueueNode entry;

	private final AcquireOperation operation;

	private final WaitQueueOperations queue;

	private final boolean willWait;

	private final CallDeadline deadline;

	/** Whether the lock node was found by an attempt without an entry. */
	private boolean refused;

	/** The lock node as it was read without a queue entry. */
	private @Nullable ZNode present;

	/**
	 * Creates the attempt.
	 * @param willWait whether the process joins the queue if the lock is busy
	 * @param refused whether an attempt without an entry was refused just before, or
	 * would be, because this process has reserved the lock
	 */
	QueuedAttempt(QueueNode entry, AcquireOperation operation, PersistentNodes persistentNodes, boolean willWait,
			boolean refused, CallDeadline deadline) {
		this.entry = entry;
		this.operation = operation;
		this.queue = new WaitQueueOperations(entry, persistentNodes, deadline);
		this.willWait = willWait;
		this.refused = refused;
		this.deadline = deadline;
	}

	CompletableFuture<AttemptAnswer> begin() {
		return round(0);
	}

	private CompletableFuture<AttemptAnswer> round(int number) {
		if (this.deadline.isAbandoned()) {
			return this.deadline.abandoned();
		}
		if (number == MAX_ROUNDS) {
			return CompletableFuture.completedFuture(busy());
		}
		return this.queue.resolveUnclear().thenCompose((resolved) -> {
			String node = this.entry.node();
			return (node != null) ? attemptFrom(node, number) : attemptWithoutNode(number);
		});
	}

	private CompletableFuture<AttemptAnswer> attemptFrom(String node, int round) {
		return this.queue.ensurePosition(node)
			.thenCompose((known) -> known ? attemptAtPosition(node, round) : round(round + 1));
	}

	private CompletableFuture<AttemptAnswer> attemptAtPosition(String node, int round) {
		return this.queue.attempt(node, this.operation).thenCompose((czxid) -> {
			if (czxid > 0) {
				return CompletableFuture.completedFuture(AttemptAnswer.acquired(czxid, LockNodeState.CONTENDED));
			}
			return mayWait() ? CompletableFuture.completedFuture(busy()) : round(round + 1);
		});
	}

	/** Returns whether a watch is set and the lock is not reserved for this entry. */
	private boolean mayWait() {
		ZNode present = this.queue.present();
		if (present == null || !this.entry.isPositionKnown() || !this.entry.isWatching()) {
			return false;
		}
		return !this.entry.isHead() || !present.isIn(LockNodeState.RESERVED);
	}

	private CompletableFuture<AttemptAnswer> attemptWithoutNode(int round) {
		if (this.refused) {
			this.refused = false;
			return enqueue(round);
		}
		return this.operation.create().thenCompose((czxid) -> {
			if (czxid <= 0) {
				return enqueue(round);
			}
			this.entry.forgetPassedOver();
			return CompletableFuture.completedFuture(AttemptAnswer.acquired(czxid, LockNodeState.HELD));
		});
	}

	private CompletableFuture<AttemptAnswer> enqueue(int round) {
		if (!this.willWait) {
			return look(round);
		}
		return this.queue.enqueue().thenCompose((enqueued) -> enqueued ? round(round + 1) : look(round));
	}

	/** Looks at the lock node, for a process that has no queue entry. */
	private CompletableFuture<AttemptAnswer> look(int round) {
		return this.deadline.awaitExisting(this.entry.session().operations().read(this.entry.path().lockNode(), null))
			.thenCompose((read) -> {
				this.present = read.orElse(null);
				return read.isPresent() ? CompletableFuture.completedFuture(busy()) : round(round + 1);
			});
	}

	private AttemptAnswer busy() {
		ZNode read = this.queue.present();
		return AttemptAnswer.busy(this.entry.isWatching() ? POLL : POLL_WITHOUT_WATCH,
				(read != null) ? read : this.present);
	}

}
