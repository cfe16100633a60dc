package io.distributedlock.zookeeper;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Operations of one process on the wait queue of one lock, for one call, which follow
 * each other. They belong to the call's turn of the queue entry.
 */
final class WaitQueueOperations {

	private static final Log logger = LogFactory.getLog(WaitQueueOperations.class);

	private final QueueEntry entry;

	private final LockPath path;

	private final Session session;

	private final ZooKeeperOperations operations;

	private final PersistentNodes persistentNodes;

	private final CallDeadline deadline;

	WaitQueueOperations(QueueEntry entry, PersistentNodes persistentNodes, CallDeadline deadline) {
		this.entry = entry;
		this.path = entry.path();
		this.session = entry.session();
		this.operations = entry.session().operations();
		this.persistentNodes = persistentNodes;
		this.deadline = deadline;
	}

	/**
	 * Finds out whether an unanswered command has created a node, so that an entry never
	 * has two: an unknown one would block the entries behind it.
	 */
	CompletableFuture<Boolean> resolveUnclear() {
		if (!this.entry.isUnclear()) {
			return CompletableFuture.completedFuture(true);
		}
		CompletableFuture<Boolean> synced = this.operations.sync(this.path.queue());
		CompletableFuture<List<String>> read = synced.thenCombine(readEntries(), (ready, entries) -> entries);
		return this.deadline.await(read).thenCompose(this::adoptFirst);
	}

	/** Keeps the first node of this session, and deletes others. */
	private CompletableFuture<Boolean> adoptFirst(List<String> entries) {
		CompletableFuture<Boolean> end = CompletableFuture.completedFuture(true);
		for (String child : entries) {
			if (child.startsWith(prefix())) {
				end = end.thenCompose((before) -> adopt(node(child)));
			}
		}
		return end.thenApply((adopted) -> {
			this.entry.markClear();
			return true;
		});
	}

	private CompletableFuture<Boolean> adopt(String node) {
		if (this.entry.node() == null) {
			this.session.allocate(this.path.queueEntryBytes());
			this.entry.created(node);
		}
		else if (!node.equals(this.entry.node())) {
			this.entry.markUnclear();
			return delete(node);
		}
		return CompletableFuture.completedFuture(true);
	}

	private String node(String child) {
		return this.path.queue() + "/" + child;
	}

	/**
	 * Creates the entry's node at the end of the queue.
	 * @return completes with {@code false} if the session is full: the process waits
	 * without an entry
	 */
	CompletableFuture<Boolean> enqueue() {
		if (!this.session.tryAllocate(this.path.queueEntryBytes())) {
			return CompletableFuture.completedFuture(false);
		}
		this.entry.markUnclear();
		return create().whenComplete((child, failure) -> {
			if (failure == null) {
				this.entry.created(node(child));
				return;
			}
			if (!ZooKeeperErrors.isUnclear(failure)) {
				this.entry.markClear();
			}
			this.session.free(this.path.queueEntryBytes());
		}).thenApply((child) -> true);
	}

	/** Creates the node, and the queue's container and its parents where missing. */
	private CompletableFuture<String> create() {
		String node = node(prefix());
		return this.deadline.await(this.operations.createSequential(node))
			.exceptionallyCompose((ex) -> ZooKeeperErrors.is(ex, Code.NONODE) ? createInContainer(node)
					: CompletableFuture.failedFuture(ex));
	}

	private CompletableFuture<String> createInContainer(String node) {
		return this.deadline.await(this.operations.createSequentialInContainer(this.path.queue(), node))
			.thenCompose((child) -> child.isEmpty() ? createParents().thenCompose((ready) -> create())
					: CompletableFuture.completedFuture(child));
	}

	private CompletableFuture<Boolean> createParents() {
		return this.deadline
			.await(this.persistentNodes.ensureWithParents(this.operations, NodePaths.parent(this.path.queue())));
	}

	private String prefix() {
		return WaitQueueOrder.prefix(this.session.id());
	}

	/** Reads the entries, the head first; a queue that is missing has none. */
	private CompletableFuture<List<String>> readEntries() {
		return this.operations.children(this.path.queue())
			.exceptionallyCompose((ex) -> ZooKeeperErrors.is(ex, Code.NONODE)
					? CompletableFuture.completedFuture(List.of()) : CompletableFuture.failedFuture(ex))
			.thenApply(WaitQueueOrder::sort);
	}

	/**
	 * Ensures that the entry is known to be the head, or that it watches its predecessor.
	 * @param node the entry's node
	 * @return completes with {@code false} if the queue has changed meanwhile
	 */
	CompletableFuture<Boolean> ensurePosition(String node) {
		if (this.entry.isHead() || (this.entry.isPositionKnown() && this.entry.isWatching())) {
			return CompletableFuture.completedFuture(true);
		}
		return this.deadline.await(readEntries()).thenCompose((entries) -> {
			int position = entries.indexOf(node.substring(node.lastIndexOf('/') + 1));
			if (position < 0) {
				this.entry.deleted(node);
				return CompletableFuture.completedFuture(false);
			}
			this.entry.setPosition(position);
			return (position == 0) ? CompletableFuture.completedFuture(true)
					: watchPredecessor(node(entries.get(position - 1)));
		});
	}

	private CompletableFuture<Boolean> watchPredecessor(String predecessor) {
		this.entry.beginWatch(predecessor);
		return this.deadline.awaitNode(this.operations.read(predecessor, this.entry.watcher()))
			.thenApply((read) -> read.isPresent())
			.whenComplete((watching, failure) -> {
				if (failure != null || !watching) {
					this.entry.clearPosition();
				}
			});
	}

	/**
	 * Attempts to acquire the lock from the queue entry. The head first sets the present
	 * lock node to {@link LockNodeState#CONTENDED}, so that its holder reserves the lock,
	 * and watches it. All requests are sent at once, so that no newcomer can acquire and
	 * release the lock in between again and again.
	 * @param node the entry's node
	 * @param reserved whether the lock node was last read as reserved
	 */
	CompletableFuture<Result> attempt(String node, boolean reserved, AcquireOperation operation) {
		if (!this.deadline.maySend()) {
			return this.deadline.abandoned();
		}
		if (!this.entry.isHead() || !(this.entry.pollNotification() || reserved)) {
			return attemptMissing(node, operation);
		}
		return operation.await(this.entry, node, operation.sendReplaceReserved(node))
			.thenCompose((czxid) -> (czxid > 0 || this.entry.node() == null)
					? CompletableFuture.completedFuture(new Result(czxid, null)) : attemptMissing(node, operation));
	}

	private CompletableFuture<Result> attemptMissing(String node, AcquireOperation operation) {
		if (!this.deadline.maySend()) {
			return this.deadline.abandoned();
		}
		boolean watch = this.entry.isHead() && !this.entry.isWatching();
		// May contend a later lock node than the one last read, which is as good.
		CompletableFuture<Stat> contended = watch
				? this.operations.touch(this.path.lockNode(), LockNodeState.HELD.version()) : null;
		CompletableFuture<Long> sent = operation.sendCreate(node);
		if (watch) {
			this.entry.beginWatch(this.path.lockNode());
		}
		CompletableFuture<ZNode> read = this.operations.read(this.path.lockNode(), watch ? this.entry.watcher() : null);
		return operation.await(this.entry, node, sent)
			.thenCompose((czxid) -> (czxid > 0) ? CompletableFuture.completedFuture(new Result(czxid, null))
					: present(read, contended))
			.whenComplete((result, failure) -> {
				if (watch && (failure != null || !result.isWatched())) {
					// No watch may be set, or the present lock node came after the touch.
					this.entry.cancelWatch();
				}
			});
	}

	/**
	 * Awaits the present lock node.
	 * @param contended the touch of the lock node that was sent before, if any
	 */
	private CompletableFuture<Result> present(CompletableFuture<ZNode> read,
			@Nullable CompletableFuture<Stat> contended) {
		return this.deadline.awaitNode(read).thenCompose((node) -> {
			Result result = new Result(0, node.orElse(null));
			Throwable refused = (contended != null && node.isPresent() && !result.isWatched()) ? refusal(contended)
					: null;
			return (refused != null) ? CompletableFuture.failedFuture(refused)
					: CompletableFuture.completedFuture(result);
		});
	}

	/**
	 * Returns the refusal of a touch that was answered before: without the right to
	 * write, the head would try without end.
	 */
	private static @Nullable Throwable refusal(CompletableFuture<Stat> contended) {
		Throwable failure = contended.handle((stat, ex) -> ex).getNow(null);
		return ZooKeeperErrors.is(failure, Code.NOAUTH) ? failure : null;
	}

	/**
	 * Removes the entry from the queue. A reservation then belongs to the next entry; in
	 * an empty queue it is deleted.
	 * @return completes with whether the entry had a node
	 */
	CompletableFuture<Boolean> dequeue() {
		return resolveUnclear().thenCompose((resolved) -> {
			String node = this.entry.node();
			return (node != null) ? dequeue(node) : CompletableFuture.completedFuture(false);
		});
	}

	private CompletableFuture<Boolean> dequeue(String node) {
		return delete(node).thenCompose((deleted) -> {
			this.entry.deleted(node);
			return this.deadline.awaitNode(this.operations.read(this.path.lockNode(), null));
		})
			.thenCompose((present) -> present.filter((lockNode) -> lockNode.isIn(LockNodeState.RESERVED)).isPresent()
					? deleteReservation() : CompletableFuture.completedFuture(true));
	}

	/** Deletes the reservation in an empty queue, without waiting for the answer. */
	private CompletableFuture<Boolean> deleteReservation() {
		return this.deadline.await(readEntries()).thenApply((entries) -> {
			if (entries.isEmpty()) {
				this.operations.delete(this.path.lockNode(), LockNodeState.RESERVED.version())
					.whenComplete((deleted, failure) -> {
						if (failure != null) {
							logger.debug("An unused reservation was not deleted: its process ends it", failure);
						}
					});
			}
			return true;
		});
	}

	private CompletableFuture<Boolean> delete(String node) {
		return this.deadline.await(this.operations.delete(node, -1))
			.exceptionallyCompose((ex) -> ZooKeeperErrors.is(ex, Code.NONODE) ? CompletableFuture.completedFuture(true)
					: CompletableFuture.failedFuture(ex));
	}

	/**
	 * Result of an attempt from a queue entry.
	 *
	 * @param czxid the {@code czxid} of the lock node of this process, or at most 0
	 * @param present the lock node of another process, or {@code null}
	 */
	record Result(long czxid, @Nullable ZNode present) {

		/** Returns whether the watch was set while the lock node was contended. */
		boolean isWatched() {
			return this.present != null && !this.present.isIn(LockNodeState.HELD);
		}

	}

}
