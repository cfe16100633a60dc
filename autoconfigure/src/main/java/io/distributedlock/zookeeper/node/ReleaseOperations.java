package io.distributedlock.zookeeper.node;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.zookeeper.session.LockNodeState;
import io.distributedlock.zookeeper.session.NodePaths;
import io.distributedlock.zookeeper.session.ZNode;
import io.distributedlock.zookeeper.session.ZooKeeperErrors;
import io.distributedlock.zookeeper.session.ZooKeeperOperations;

/**
 * Releases of lock nodes, and the reservations that follow. A {@link LockNodeState#HELD}
 * node is deleted. A {@link LockNodeState#CONTENDED} node becomes
 * {@link LockNodeState#RESERVED} for the head of its wait queue, or is deleted at once
 * where the queue is empty. A head that does not use its reservation within the grace
 * period loses it, and its queue entry with it. Only the last reservation of a lock can
 * still be unused.
 * <p>
 * No command is repeated before the lock node was read: the versions of the next lock
 * node start at 0 again. Nothing here blocks.
 */
public final class ReleaseOperations {

	/** How long a lock is reserved for the head of its wait queue. */
	static final Duration GRACE = Duration.ofMillis(100);

	/** The pause after a connection or a right was lost within a grace period. */
	private static final Duration RETRY_PAUSE = Duration.ofMillis(250);

	/** The pause after the head of the queue has changed at the end of a grace period. */
	private static final Duration HEAD_CHANGED_PAUSE = Duration.ofMillis(5);

	private static final Log logger = LogFactory.getLog(ReleaseOperations.class);

	private final Consumer<LockKey> dequeue;

	private final LockTimer timer;

	/** The last reservation of each lock, until it is used or deleted. */
	private final Map<LockKey, LockNode> reserved = new ConcurrentHashMap<>();

	private volatile boolean closed;

	/**
	 * Creates the operations.
	 * @param dequeue removes this process's own entry from the wait queue of a lock
	 */
	public ReleaseOperations(Consumer<LockKey> dequeue, LockTimer timer) {
		this.dequeue = dequeue;
		this.timer = timer;
	}

	/**
	 * Releases a lock node. One that was created from the wait queue has been contended
	 * since.
	 * @return completes with whether the node existed; fails where that is unclear
	 */
	public CompletableFuture<Boolean> release(LockNode node) {
		if (node.path().isShare()) {
			return releaseShare(node);
		}
		if (node.isCreatedContended()) {
			return reserve(node);
		}
		return node.session()
			.operations()
			.delete(node.path().lockNode(), LockNodeState.HELD.version())
			.exceptionallyCompose(
					(failure) -> ZooKeeperErrors.is(failure, Code.BADVERSION) ? reserve(node) : missing(failure));
	}

	/**
	 * Releases a share, and with the last one the container, of which only a transaction
	 * can say that it is that: the container is not empty otherwise.
	 */
	private CompletableFuture<Boolean> releaseShare(LockNode node) {
		ZooKeeperOperations operations = node.session().operations();
		String lockNode = node.path().exclusive().lockNode();
		Op end = Op.delete(node.path().lockNode(), -1);
		CompletableFuture<List<OpResult>> last = operations
			.multi(List.of(end, Op.delete(lockNode, LockNodeState.HELD.version())));
		CompletableFuture<Integer> shares = operations.childCount(lockNode);
		return last.thenCompose((results) -> {
			Code refusal = ZooKeeperOperations.refusal(results);
			return (refusal != Code.BADVERSION) ? endRelease(node, refusal) : shares
				.thenCompose((number) -> (number > 1) ? endRelease(node, Code.NOTEMPTY) : reserveLast(node, end));
		});
	}

	/**
	 * Releases the last share of a contended container: the lock node of a reservation
	 * takes its place.
	 * @param first the steps that prove that the path is that of the container
	 */
	private CompletableFuture<Boolean> reserveLast(LockNode node, Op... first) {
		ZooKeeperOperations operations = node.session().operations();
		String lockNode = node.path().exclusive().lockNode();
		List<Op> steps = new ArrayList<>(List.of(first));
		steps.addAll(List.of(Op.delete(lockNode, -1), operations.createStep(lockNode),
				ZooKeeperOperations.touchStep(lockNode, LockNodeState.HELD.version()),
				ZooKeeperOperations.touchStep(lockNode, LockNodeState.CONTENDED.version())));
		return operations.multi(steps).thenCombine(waiting(node), (results, number) -> {
			Code refusal = ZooKeeperOperations.refusal(results);
			return (refusal != null) ? endRelease(node, refusal)
					: completeReservation(node.reservation(ZooKeeperOperations.written(results)), number);
		}).thenCompose((next) -> next);
	}

	/** Ends the release of a share whose transaction was answered. */
	private CompletableFuture<Boolean> endRelease(LockNode node, @Nullable Code refusal) {
		if (refusal == null || refusal == Code.NONODE || refusal == Code.NOCHILDRENFOREPHEMERALS) {
			return CompletableFuture.completedFuture(refusal == null);
		}
		String share = node.path().lockNode();
		if (refusal != Code.NOTEMPTY) {
			return CompletableFuture.failedFuture(ZooKeeperErrors.failure(refusal, OpCode.delete, share));
		}
		ZooKeeperOperations operations = node.session().operations();
		CompletableFuture<Boolean> deleted = operations.delete(share, -1);
		// The others may have found this one in the container, as this has found them.
		return operations.childCount(NodePaths.parent(share))
			.thenCombine(deleted,
					(others, done) -> (others > 0) ? CompletableFuture.completedFuture(true)
							: reserveLast(node, operations.createStep(share), Op.delete(share, -1)))
			.thenCompose((next) -> next.thenApply((reserved) -> true))
			.exceptionallyCompose(ReleaseOperations::missing);
	}

	private static CompletableFuture<Boolean> missing(Throwable failure) {
		return ZooKeeperErrors.is(failure, Code.NONODE) ? CompletableFuture.completedFuture(false)
				: CompletableFuture.failedFuture(failure);
	}

	/**
	 * Reserves a contended lock node, or deletes it if no process waits. Where this
	 * process has just seen others in the queue it does not ask: if all of them have left
	 * since, the lock stays reserved for a grace period at most.
	 */
	public CompletableFuture<Boolean> reserve(LockNode node) {
		ZooKeeperOperations operations = node.session().operations();
		String path = node.path().lockNode();
		this.dequeue.accept(node.key());
		CompletableFuture<Boolean> touched = operations.touch(path, LockNodeState.CONTENDED.version())
			.thenApply((stat) -> true);
		CompletableFuture<Integer> waiting = waiting(node);
		return touched.handle((done, failure) -> {
			if (failure == null) {
				return waiting.thenCompose((number) -> completeReservation(node, number));
			}
			if (ZooKeeperErrors.is(failure, Code.BADVERSION)) {
				return operations.read(path, null).thenCompose((read) -> deleteAltered(node, read));
			}
			return missing(failure);
		}).thenCompose((next) -> next);
	}

	/** Returns how many wait, or that one does if that is not known. */
	private static CompletableFuture<Integer> waiting(LockNode node) {
		return node.sawOthers() ? CompletableFuture.completedFuture(1)
				: node.session().operations().childCount(node.path().queue()).exceptionally((ex) -> {
					logger.debug("The wait queue of '" + node.key() + "' could not be read", ex);
					return 1;
				});
	}

	/** Deletes a lock node whose version was altered by another tool. */
	private static CompletableFuture<Boolean> deleteAltered(LockNode node, ZNode read) {
		return node.isSameAs(read) ? node.session().operations().delete(node.path().lockNode(), read.version())
				: CompletableFuture.completedFuture(false);
	}

	/**
	 * Completes a release: a reserved node holds no lock, whatever follows. The delete in
	 * an empty queue may end a later reservation, never a lock that is held.
	 */
	private CompletableFuture<Boolean> completeReservation(LockNode node, int waiting) {
		if (waiting > 0) {
			addReservation(node, GRACE);
			return CompletableFuture.completedFuture(true);
		}
		return node.session()
			.operations()
			.delete(node.path().lockNode(), LockNodeState.RESERVED.version())
			.handle((deleted, failure) -> {
				if (failure != null && !ZooKeeperErrors.is(failure, Code.NONODE)) {
					logger.debug("The reservation of '" + node.key() + "' could not be deleted", failure);
					addReservation(node, RETRY_PAUSE);
				}
				return true;
			});
	}

	/**
	 * Adds a reservation, which is deleted if it is still unused after a delay, or at
	 * once after {@link #close()}.
	 * @param node the reserved lock node
	 */
	void addReservation(LockNode node, Duration delay) {
		this.reserved.merge(node.key(), node, (before, added) -> (before.czxid() > added.czxid()) ? before : added);
		if (this.closed) {
			end(node);
		}
		else {
			expireLater(node, delay);
		}
	}

	private void expireLater(LockNode node, Duration delay) {
		// Where the timer is closed, the reservation ends with the session.
		this.timer.scheduleIfOpen(() -> expire(node), delay.toNanos());
	}

	/**
	 * Ends all reservations, present and later ones, without a grace period: no timer
	 * would end them, and the session may belong to a client that lives on.
	 */
	public void close() {
		if (!this.closed) {
			this.closed = true;
			retryEnd();
		}
	}

	/** Sends again what has ended no reservation since the close. */
	public void retryEnd() {
		this.reserved.values().forEach(this::end);
	}

	/** Returns whether a reservation was neither used nor has ended. */
	public boolean hasReservations() {
		return !this.reserved.isEmpty();
	}

	/**
	 * Deletes a reservation without reading it. That may be the reservation of another
	 * process, whose lock is then free a little earlier, but never a lock that is held.
	 */
	private void end(LockNode node) {
		node.session()
			.operations()
			.delete(node.path().lockNode(), LockNodeState.RESERVED.version())
			.whenComplete((deleted, failure) -> {
				if (failure != null) {
					logger.debug("The reservation of '" + node.key() + "' was not deleted at the end", failure);
				}
				if (failure == null || !ZooKeeperErrors.isUnclear(failure) || node.session().hasEnded()) {
					this.reserved.remove(node.key(), node);
				}
			});
	}

	/**
	 * Returns whether this process has just reserved a lock for another one, so that an
	 * attempt without a queue entry is not worth a command.
	 */
	public boolean hasReserved(LockKey key) {
		return this.reserved.containsKey(key);
	}

	/**
	 * Records that this process has acquired a lock, so that its earlier reservations of
	 * it were used.
	 */
	public void recordGrant(LockNode node) {
		this.reserved.computeIfPresent(node.key(), (key, before) -> (before.czxid() < node.czxid()) ? null : before);
	}

	private void expire(LockNode node) {
		if (this.reserved.get(node.key()) != node) {
			return;
		}
		if (node.session().hasEnded()) {
			this.reserved.remove(node.key(), node);
			return;
		}
		isUnused(node).thenCompose((unused) -> unused ? expireUnused(node) : CompletableFuture.completedFuture(true))
			.whenComplete((done, failure) -> {
				if (failure != null && !ZooKeeperErrors.is(failure, Code.NONODE)) {
					logger.debug("The reservation of '" + node.key() + "' could not be ended", failure);
					expireLater(node, RETRY_PAUSE);
				}
				else if (Boolean.FALSE.equals(done)) {
					expireLater(node, HEAD_CHANGED_PAUSE);
				}
				else {
					this.reserved.remove(node.key(), node);
				}
			});
	}

	private static CompletableFuture<Boolean> isUnused(LockNode node) {
		return node.session()
			.operations()
			.read(node.path().lockNode(), null)
			.thenApply((read) -> node.isSameAs(read) && read.isIn(LockNodeState.RESERVED));
	}

	private static CompletableFuture<Optional<String>> head(LockNode node) {
		return WaitQueueOrder.read(node.session().operations(), node.path().queue())
			.thenApply((children) -> children.names().stream().findFirst());
	}

	/**
	 * Ends a reservation that may be unused: the server that was asked may be late. The
	 * head is read before the lock node, so that it is the one that has not used this
	 * reservation, not the head of a later one.
	 */
	private static CompletableFuture<Boolean> expireUnused(LockNode node) {
		CompletableFuture<Boolean> synced = node.session().operations().sync(node.path().lockNode());
		CompletableFuture<Optional<String>> head = head(node);
		CompletableFuture<Boolean> unused = isUnused(node);
		return synced.thenCombine(unused, (ready, present) -> present)
			.thenCombine(head,
					(present, entry) -> present ? delete(node, entry) : CompletableFuture.completedFuture(true))
			.thenCompose((next) -> next);
	}

	/**
	 * Deletes a reservation together with the head that did not use it.
	 * @return completes with whether that is done
	 */
	private static CompletableFuture<Boolean> delete(LockNode node, Optional<String> head) {
		Op delete = Op.delete(node.path().lockNode(), LockNodeState.RESERVED.version());
		List<Op> steps = head.map((entry) -> List.of(delete, Op.delete(node.path().queue() + "/" + entry, -1)))
			.orElse(List.of(delete));
		return node.session().operations().multi(steps).thenApply((results) -> {
			for (int i = 0; i < results.size(); i++) {
				if (results.get(i) instanceof OpResult.ErrorResult error && Code.get(error.getErr()) == Code.NOAUTH) {
					throw new CompletionException(ZooKeeperErrors.failure(Code.NOAUTH, steps.get(i)));
				}
			}
			return results.stream().noneMatch((result) -> result instanceof OpResult.ErrorResult);
		});
	}

}
