package io.distributedlock.zookeeper.node;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.zookeeper.session.LockNodeState;
import io.distributedlock.zookeeper.session.ZNode;
import io.distributedlock.zookeeper.session.ZooKeeperErrors;
import io.distributedlock.zookeeper.session.ZooKeeperOperations;

/**
 * Release of lock nodes. A {@link LockNodeState#HELD} node is deleted. A
 * {@link LockNodeState#CONTENDED} node becomes {@link LockNodeState#RESERVED} for the
 * head of its wait queue, or is deleted at once where the queue is empty.
 * <p>
 * No command is repeated before the lock node was read: the versions of the next lock
 * node start at 0 again. Nothing here blocks.
 */
public final class ReleaseOperation {

	private static final Log logger = LogFactory.getLog(ReleaseOperation.class);

	private final Reservations reservations;

	private final Consumer<LockKey> dequeue;

	/**
	 * Creates the operation.
	 * @param dequeue removes this process's own entry from the wait queue of a lock
	 */
	public ReleaseOperation(Reservations reservations, Consumer<LockKey> dequeue) {
		this.reservations = reservations;
		this.dequeue = dequeue;
	}

	/**
	 * Releases a lock node. One that was created from the wait queue has been contended
	 * since.
	 * @return completes with whether the node existed; fails where that is unclear
	 */
	public CompletableFuture<Boolean> release(LockNode node) {
		if (node.isCreatedContended()) {
			return reserve(node);
		}
		return node.session()
			.operations()
			.delete(node.path().lockNode(), LockNodeState.HELD.version())
			.exceptionallyCompose(
					(failure) -> ZooKeeperErrors.is(failure, Code.BADVERSION) ? reserve(node) : existed(failure));
	}

	private static CompletableFuture<Boolean> existed(@Nullable Throwable failure) {
		if (failure == null || ZooKeeperErrors.is(failure, Code.NONODE)) {
			return CompletableFuture.completedFuture(failure == null);
		}
		return CompletableFuture.failedFuture(failure);
	}

	/** Reserves a contended lock node, or deletes it if no process waits. */
	public CompletableFuture<Boolean> reserve(LockNode node) {
		ZooKeeperOperations operations = node.session().operations();
		String path = node.path().lockNode();
		this.dequeue.accept(node.key());
		CompletableFuture<Boolean> reserved = operations.touch(path, LockNodeState.CONTENDED.version())
			.thenApply((stat) -> true);
		CompletableFuture<Integer> waiting = operations.childCount(node.path().queue());
		return reserved.handle((done, failure) -> {
			if (failure == null) {
				return waiting.exceptionally((ex) -> unknownNumber(node, ex))
					.thenCompose((number) -> completeReservation(node, number));
			}
			if (ZooKeeperErrors.is(failure, Code.BADVERSION)) {
				return operations.read(path, null).thenCompose((read) -> deleteAltered(node, read));
			}
			return existed(failure);
		}).thenCompose((next) -> next);
	}

	private static int unknownNumber(LockNode node, Throwable failure) {
		logger.debug("The wait queue of '" + node.key() + "' could not be read", failure);
		return 1;
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
			this.reservations.add(node, Reservations.GRACE);
			return CompletableFuture.completedFuture(true);
		}
		return node.session()
			.operations()
			.delete(node.path().lockNode(), LockNodeState.RESERVED.version())
			.handle((deleted, failure) -> {
				if (failure != null && !ZooKeeperErrors.is(failure, Code.NONODE)) {
					logger.debug("The reservation of '" + node.key() + "' could not be deleted", failure);
					this.reservations.add(node, Reservations.RETRY_PAUSE);
				}
				return true;
			});
	}

}
