package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

import io.distributedlock.zookeeper.node.AcquireOperation;
import io.distributedlock.zookeeper.node.AttemptAnswer;
import io.distributedlock.zookeeper.node.QueueNode;
import io.distributedlock.zookeeper.node.WaitQueueOrder;
import io.distributedlock.zookeeper.session.CallDeadline;
import io.distributedlock.zookeeper.session.LockNodeState;
import io.distributedlock.zookeeper.session.LockPath;
import io.distributedlock.zookeeper.session.NodePaths;
import io.distributedlock.zookeeper.session.PersistentNodes;
import io.distributedlock.zookeeper.session.Session;
import io.distributedlock.zookeeper.session.ZNode;
import io.distributedlock.zookeeper.session.ZooKeeperErrors;
import io.distributedlock.zookeeper.session.ZooKeeperOperations;
import io.distributedlock.zookeeper.session.ZooKeeperOperations.Children;

/**
 * Operations of one process on the wait queue of one lock, for one call, which follow
 * each other. They belong to the call's turn of the queue entry.
 * <p>
 * An attempt is made in rounds: each begins again with what the one before has found in
 * the queue.
 */
final class WaitQueueOperations {

	private static final Log logger = LogFactory.getLog(WaitQueueOperations.class);

	/**
	 * The pause of a contender without a watch, which is the shortest time of a
	 * reservation, and of one that has not read yet which process holds the lock.
	 */
	private static final Duration FIRST_POLL = Duration.ofMillis(100);

	/** How often the lock node or the queue may change during one attempt. */
	private static final int MAX_ROUNDS = 8;

	/** The pause of a contender whose watch is set and that knows the holder. */
	private static final Duration POLL = Duration.ofSeconds(1);

	private final QueueNode entry;

	private final LockPath path;

	private final Session session;

	private final ZooKeeperOperations operations;

	private final PersistentNodes persistentNodes;

	private final CallDeadline deadline;

	/** Whether this process has just reserved the lock, so that others are before it. */
	private final boolean behindOthers;

	/** What the call has read last, unless a command was sent since. */
	private @Nullable Look look;

	/** Whether the call has read the position. */
	private boolean positionRead;

	WaitQueueOperations(QueueNode entry, PersistentNodes persistentNodes, CallDeadline deadline, boolean behindOthers) {
		this.entry = entry;
		this.path = entry.path();
		this.session = entry.session();
		this.operations = entry.session().operations();
		this.persistentNodes = persistentNodes;
		this.deadline = deadline;
		this.behindOthers = behindOthers;
	}

	/**
	 * Attempts to acquire the lock.
	 * @param willWait whether the process joins the queue if the lock is busy
	 * @param refused whether an attempt without a queue entry was refused just before, or
	 * would be, because this process has reserved the lock
	 */
	CompletableFuture<AttemptAnswer> attempt(AcquireOperation operation, boolean willWait, boolean refused) {
		return new Attempt(operation, willWait, refused).round(0);
	}

	/**
	 * Finds out whether an unanswered command has created a node, so that an entry never
	 * has two: an unknown one would block the entries behind it.
	 */
	private CompletableFuture<Boolean> resolveUnclear() {
		if (!this.entry.isUnclear()) {
			return CompletableFuture.completedFuture(true);
		}
		CompletableFuture<Boolean> synced = this.operations.sync(this.path.queue());
		CompletableFuture<Children> read = synced.thenCombine(WaitQueueOrder.read(this.operations, this.path.queue()),
				(ready, entries) -> entries);
		return this.deadline.await(read).thenCompose((entries) -> adoptFirst(entries.names()));
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
			this.session.allocate(this.path.queueEntryLength());
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
	private CompletableFuture<Boolean> enqueue() {
		if (!this.session.tryAllocate(this.path.queueEntryLength())) {
			return CompletableFuture.completedFuture(false);
		}
		this.entry.markUnclear();
		String passedOver = this.entry.passedOver();
		CompletableFuture<String> created = (passedOver != null) ? createAgain(passedOver) : create();
		return created.whenComplete((child, failure) -> {
			if (failure == null) {
				this.entry.created(node(child));
				return;
			}
			if (!ZooKeeperErrors.isUnclear(failure)) {
				this.entry.markClear();
			}
			this.session.free(this.path.queueEntryLength());
		}).thenApply((child) -> true);
	}

	/**
	 * Creates the node that was passed over again, at its place in the order of arrival,
	 * and raises the version of the queue, so that the next entry does not take itself
	 * for the head. A queue that was removed meanwhile has no such place.
	 */
	private CompletableFuture<String> createAgain(String passedOver) {
		CompletableFuture<Boolean> created = this.deadline.awaitExisting(this.operations.stat(this.path.queue(), null))
			.thenCompose((queue) -> (queue.isPresent() && queue.get().getCzxid() == this.entry.queueCzxid())
					? this.deadline.await(this.operations.createAt(passedOver, this.path.queue()))
					: CompletableFuture.completedFuture(false));
		return created.thenCompose((done) -> {
			if (!done) {
				this.entry.forgetPassedOver();
			}
			return done ? CompletableFuture.completedFuture(NodePaths.name(passedOver)) : create();
		});
	}

	/** Creates the node, and the queue's container and its parents where missing. */
	private CompletableFuture<String> create() {
		String node = node(prefix());
		return ZooKeeperOperations.recover(this.deadline.await(this.operations.createSequential(node)), Code.NONODE,
				() -> createInContainer(node));
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
		return WaitQueueOrder.prefix(this.session.id(), this.entry.limit());
	}

	/**
	 * Ensures that the entry is known to be the head, or that it watches its predecessor.
	 * Reads the lock node along with the queue, unless others are before the entry. If
	 * its predecessor was deleted it is most likely the head, and watches the lock node
	 * too; else that watch is ignored.
	 * @param node the entry's node
	 * @return completes with {@code false} if the queue has changed meanwhile
	 */
	private CompletableFuture<Boolean> ensurePosition(String node) {
		if (this.entry.isHead() || (this.entry.isPositionKnown() && this.entry.isWatching())) {
			return CompletableFuture.completedFuture(true);
		}
		CompletableFuture<Children> sent = WaitQueueOrder.read(this.operations, this.path.queue());
		CompletableFuture<Long> looked = (this.behindOthers && !this.entry.isHeadExpected())
				? CompletableFuture.completedFuture(0L) : look(this.entry.isHeadExpected());
		return looked.thenCompose((busy) -> this.deadline.await(sent)).thenCompose((read) -> {
			int position = read.names().indexOf(NodePaths.name(node));
			if (position < 0) {
				this.entry.recordPassedOver(node);
				return CompletableFuture.completedFuture(false);
			}
			this.positionRead = true;
			this.entry.setPosition(position, read);
			return (position == 0) ? CompletableFuture.completedFuture(true)
					: watchPredecessor(node(read.names().get(position - 1)));
		});
	}

	private CompletableFuture<Boolean> watchPredecessor(String predecessor) {
		this.entry.watch(predecessor);
		return this.deadline.awaitExisting(this.operations.read(predecessor, this.entry.watcher()))
			.thenApply((read) -> read.isPresent())
			.whenComplete((watching, failure) -> {
				if (failure != null) {
					this.entry.clearPosition();
				}
				else if (!watching) {
					this.entry.expectHead();
				}
			});
	}

	/**
	 * Makes one step towards the lock from the queue entry. A write is sent only if the
	 * lock node is reserved for this entry, is missing, or does not say yet that the head
	 * waits. Else the lock node is read, unless this call has just read the queue and
	 * found others before the entry.
	 * @param node the entry's node
	 * @return completes with the {@code czxid} of the lock node of this process, or with
	 * at most 0
	 */
	private CompletableFuture<Long> step(String node, AcquireOperation operation) {
		if (!this.deadline.maySend()) {
			return this.deadline.abandoned();
		}
		Look last = this.look;
		// What this call has read is newer; the event may be that of its own change.
		EventType polled = this.entry.pollEvent();
		EventType event = (last == null) ? polled : EventType.None;
		if (this.entry.isHead() && (event == EventType.NodeDataChanged || isIn(last, LockNodeState.RESERVED))) {
			this.look = null;
			return positionLostUnlessGranted(operation.replaceReserved(this.entry, node));
		}
		if (this.entry.isHead() && hasRoom()) {
			this.look = null;
			return positionLostUnlessGranted(operation.join(this.entry, node));
		}
		if ((event == EventType.NodeDeleted && !this.entry.isForShare()) || (last != null && last.node() == null)) {
			this.look = null;
			CompletableFuture<Long> created = operation.create(this.entry, node);
			return this.entry.isHead() ? positionLostUnlessGranted(created) : created;
		}
		if (this.entry.isHead() && !this.entry.isWatching()) {
			return isIn(last, LockNodeState.HELD) ? contendAndWatch() : look(true);
		}
		return (last != null || this.positionRead) ? CompletableFuture.completedFuture(0L) : look(false);
	}

	/**
	 * Has the queue read again if a step towards the lock has failed. A reservation that
	 * is gone was for another entry, or has passed this one over; so may have a lock node
	 * that another process has created since.
	 */
	private CompletableFuture<Long> positionLostUnlessGranted(CompletableFuture<Long> step) {
		return step.thenApply((czxid) -> {
			if (czxid <= 0) {
				this.entry.clearPosition();
			}
			return czxid;
		});
	}

	private static boolean isIn(@Nullable Look look, LockNodeState state) {
		return look != null && look.node() != null && look.node().isIn(state);
	}

	/** Returns whether a share of this entry can join those that the call has read. */
	private boolean hasRoom() {
		ZNode present = present();
		return present != null && present.isContainer() && present.stat().getNumChildren() < this.entry.limit();
	}

	/** Returns the lock node as this call has read it last, or {@code null}. */
	private @Nullable ZNode present() {
		return (this.look != null) ? this.look.node() : null;
	}

	/** Returns whether a watch is set and the lock is not reserved for this entry. */
	private boolean mayWait() {
		if (!this.entry.isPositionKnown() || !(this.entry.isWatching() || ZNode.isForeign(present()))) {
			return false;
		}
		if (this.look == null) {
			return !this.entry.isHead();
		}
		ZNode present = present();
		return present != null && (!this.entry.isHead() || !(present.isIn(LockNodeState.RESERVED) || hasRoom()));
	}

	private AttemptAnswer busy() {
		boolean complete = this.entry.isWatching() && this.look != null;
		return new AttemptAnswer(0, null, complete ? POLL : FIRST_POLL, present());
	}

	/**
	 * Reads the lock node.
	 * @param watch whether to watch it: the head relies on the watch only if the holder
	 * reserves the lock
	 * @return completes with 0
	 */
	private CompletableFuture<Long> look(boolean watch) {
		if (watch) {
			this.entry.watch(this.path.lockNode());
			if (this.entry.isForShare()) {
				// Read first, so that no share ends unseen; a lock node has no children.
				this.operations.children(this.path.lockNode(), this.entry.watcher());
			}
		}
		return this.deadline
			.awaitExisting(this.operations.read(this.path.lockNode(), watch ? this.entry.watcher() : null))
			.thenCompose((read) -> this.entry.isForShare() ? CompletableFuture.completedFuture(read)
					: this.deadline.await(this.operations.deleteEmptyContainer(this.path.lockNode(), read)))
			.whenComplete((read, failure) -> {
				this.look = (failure == null) ? new Look(read.orElse(null)) : null;
				if (watch && (present() == null || ZNode.isForeign(present()) || isIn(this.look, LockNodeState.HELD))) {
					this.entry.watch(null);
				}
			})
			.thenApply((read) -> 0L);
	}

	/**
	 * Sets a held lock node to {@link LockNodeState#CONTENDED}, so that its holder
	 * reserves the lock, and watches it. May contend a later lock node than the one read,
	 * which is as good.
	 */
	private CompletableFuture<Long> contendAndWatch() {
		CompletableFuture<Stat> contended = this.operations.touch(this.path.lockNode(), LockNodeState.HELD.version());
		return look(true).thenCompose((busy) -> {
			// Answered before: without the right to write, the head would try without
			// end.
			Throwable refused = contended.handle((stat, ex) -> ex).getNow(null);
			return ZooKeeperErrors.is(refused, Code.NOAUTH) ? CompletableFuture.failedFuture(refused)
					: CompletableFuture.completedFuture(busy);
		});
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
			return this.deadline.awaitExisting(this.operations.read(this.path.lockNode(), null));
		})
			.thenCompose((present) -> present.filter((lockNode) -> lockNode.isIn(LockNodeState.RESERVED)).isPresent()
					? deleteReservation() : CompletableFuture.completedFuture(true));
	}

	/** Deletes the reservation in an empty queue, without waiting for the answer. */
	private CompletableFuture<Boolean> deleteReservation() {
		return this.deadline.await(WaitQueueOrder.read(this.operations, this.path.queue())).thenApply((entries) -> {
			if (entries.names().isEmpty()) {
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
		return ZooKeeperOperations.recover(this.deadline.await(this.operations.delete(node, -1)), Code.NONODE,
				() -> CompletableFuture.completedFuture(true));
	}

	/** One attempt to acquire the lock, with or without a node in the queue. */
	private final class Attempt {

		private final AcquireOperation operation;

		private final boolean willWait;

		/** Whether the lock node was found by an attempt without an entry. */
		private boolean refused;

		private Attempt(AcquireOperation operation, boolean willWait, boolean refused) {
			this.operation = operation;
			this.willWait = willWait;
			this.refused = refused;
		}

		private CompletableFuture<AttemptAnswer> round(int number) {
			if (WaitQueueOperations.this.deadline.isAbandoned()) {
				return WaitQueueOperations.this.deadline.abandoned();
			}
			if (number == MAX_ROUNDS) {
				return CompletableFuture.completedFuture(busy());
			}
			return resolveUnclear().thenCompose((resolved) -> {
				String node = WaitQueueOperations.this.entry.node();
				return (node != null) ? attemptFrom(node, number) : attemptWithoutNode(number);
			});
		}

		private CompletableFuture<AttemptAnswer> attemptFrom(String node, int round) {
			return ensurePosition(node)
				.thenCompose((known) -> known ? attemptAtPosition(node, round) : round(round + 1));
		}

		private CompletableFuture<AttemptAnswer> attemptAtPosition(String node, int round) {
			return step(node, this.operation).thenCompose((czxid) -> {
				if (czxid > 0) {
					return CompletableFuture.completedFuture(new AttemptAnswer(czxid,
							WaitQueueOperations.this.entry.othersUntil(), Duration.ZERO, null));
				}
				return mayWait() ? CompletableFuture.completedFuture(busy()) : round(round + 1);
			});
		}

		private CompletableFuture<AttemptAnswer> attemptWithoutNode(int round) {
			if (this.refused) {
				this.refused = false;
				return enqueueOrLook(round);
			}
			return this.operation.create().thenCompose(this::joinOthers).thenCompose((czxid) -> {
				if (czxid <= 0) {
					return enqueueOrLook(round);
				}
				WaitQueueOperations.this.entry.forgetPassedOver();
				return CompletableFuture.completedFuture(new AttemptAnswer(czxid, null, Duration.ZERO, null));
			});
		}

		/** Has a share that could not be the first join others, unless processes wait. */
		private CompletableFuture<Long> joinOthers(long created) {
			QueueNode own = WaitQueueOperations.this.entry;
			if (created > 0 || !own.isForShare()) {
				return CompletableFuture.completedFuture(created);
			}
			CompletableFuture<Integer> waiting = own.session().operations().childCount(own.path().queue());
			return look(false).thenCompose((read) -> WaitQueueOperations.this.deadline.await(waiting))
				.thenCompose((number) -> {
					boolean joins = number == 0 && hasRoom();
					WaitQueueOperations.this.look = null;
					return joins ? this.operation.join(own, null) : CompletableFuture.completedFuture(created);
				});
		}

		/** Reads the lock node of a process that gets no queue entry. */
		private CompletableFuture<AttemptAnswer> enqueueOrLook(int round) {
			CompletableFuture<Boolean> enqueued = this.willWait ? enqueue() : CompletableFuture.completedFuture(false);
			return enqueued.thenCompose((done) -> done ? round(round + 1) : look(false).thenCompose(
					(read) -> (present() != null) ? CompletableFuture.completedFuture(busy()) : round(round + 1)));
		}

	}

	/**
	 * What a call has read of the lock.
	 *
	 * @param node the lock node, or {@code null} if it was missing
	 */
	private record Look(@Nullable ZNode node) {

	}

}
