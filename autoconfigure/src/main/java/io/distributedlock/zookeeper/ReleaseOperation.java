package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockTimer;

/**
 * Release of lock nodes. A {@link LockNodeState#HELD} node is deleted. A
 * {@link LockNodeState#CONTENDED} node becomes {@link LockNodeState#RESERVED} for the
 * head of its wait queue; after a grace period it is deleted together with a head that
 * did not use the reservation, or at once where the queue is empty.
 * <p>
 * No command is repeated before the lock node was read: the versions of the next lock
 * node start at 0 again. Nothing here blocks.
 */
final class ReleaseOperation {

	private static final Log logger = LogFactory.getLog(ReleaseOperation.class);

	private static final Duration GRACE = Duration.ofMillis(100);

	/** The pause after the head of the queue has changed at the end of a grace period. */
	private static final Duration HEAD_CHANGED_PAUSE = Duration.ofMillis(5);

	/** The pause after a connection or a right was lost within a grace period. */
	private static final Duration RETRY_PAUSE = Duration.ofMillis(250);

	private final LockTimer timer;

	private final Consumer<LockKey> dequeue;

	/** The lock nodes that are reserved, until they are used or deleted. */
	private final Set<LockNode> reservations = ConcurrentHashMap.newKeySet();

	private volatile boolean closed;

	/**
	 * Creates the operation.
	 * @param dequeue removes this process's own entry from the wait queue of a lock
	 */
	ReleaseOperation(LockTimer timer, Consumer<LockKey> dequeue) {
		this.timer = timer;
		this.dequeue = dequeue;
	}

	/**
	 * Releases a lock node.
	 * @return completes with whether the node existed; fails where that is unclear
	 */
	CompletableFuture<Boolean> release(LockNode node) {
		ZooKeeperOperations operations = node.session().operations();
		return operations.delete(node.path().lockNode(), LockNodeState.HELD.version())
			.exceptionallyCompose(
					(failure) -> ZooKeeperErrors.is(failure, Code.BADVERSION) ? reserve(node) : existed(failure));
	}

	private static CompletableFuture<Boolean> existed(@Nullable Throwable failure) {
		if (failure == null || ZooKeeperErrors.is(failure, Code.NONODE)) {
			return CompletableFuture.completedFuture(failure == null);
		}
		return CompletableFuture.failedFuture(failure);
	}

	private CompletableFuture<Boolean> reserve(LockNode node) {
		ZooKeeperOperations operations = node.session().operations();
		String path = node.path().lockNode();
		this.dequeue.accept(node.key());
		CompletableFuture<Boolean> reserved = operations.touch(path, LockNodeState.CONTENDED.version())
			.thenApply((stat) -> true);
		CompletableFuture<Optional<String>> head = head(node);
		return reserved.handle((done, failure) -> {
			if (failure == null) {
				return head.exceptionally((ex) -> unknownHead(node, ex))
					.thenCompose((entry) -> completeReservation(node, entry));
			}
			if (ZooKeeperErrors.is(failure, Code.BADVERSION)) {
				return operations.read(path, null).thenCompose((read) -> deleteAltered(node, read));
			}
			return existed(failure);
		}).thenCompose((next) -> next);
	}

	private static Optional<String> unknownHead(LockNode node, Throwable failure) {
		logger.debug("The wait queue of '" + node.key() + "' could not be read", failure);
		return Optional.of("unknown");
	}

	/** Deletes a lock node whose version was altered by another tool. */
	private static CompletableFuture<Boolean> deleteAltered(LockNode node, ZNode read) {
		return node.isSameAs(read) ? node.session().operations().delete(node.path().lockNode(), read.version())
				: CompletableFuture.completedFuture(false);
	}

	/** Completes a release: a reserved node holds no lock, whatever follows. */
	private CompletableFuture<Boolean> completeReservation(LockNode node, Optional<String> head) {
		if (head.isPresent()) {
			expireReservation(node, GRACE);
			return CompletableFuture.completedFuture(true);
		}
		return node.session()
			.operations()
			.delete(node.path().lockNode(), LockNodeState.RESERVED.version())
			.handle((deleted, failure) -> {
				if (failure != null && !ZooKeeperErrors.is(failure, Code.NONODE)) {
					logger.debug("The reservation of '" + node.key() + "' could not be deleted", failure);
					expireReservation(node, RETRY_PAUSE);
				}
				return true;
			});
	}

	private static CompletableFuture<Optional<String>> head(LockNode node) {
		return node.session().operations().children(node.path().queue()).handle((children, failure) -> {
			if (failure != null && !ZooKeeperErrors.is(failure, Code.NONODE)) {
				return CompletableFuture.<Optional<String>>failedFuture(failure);
			}
			return CompletableFuture.completedFuture(
					(children != null) ? WaitQueueOrder.sort(children).stream().findFirst() : Optional.<String>empty());
		}).thenCompose((next) -> next);
	}

	/**
	 * Deletes a reservation that is still unused after a delay, or at once after
	 * {@link #close()}.
	 * @param node the reserved lock node
	 */
	void expireReservation(LockNode node, Duration delay) {
		this.reservations.add(node);
		if (this.closed) {
			endReservation(node);
			return;
		}
		try {
			this.timer.schedule(() -> expireReservation(node), delay);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The timer is closed: a reservation ends with the session", ex);
		}
	}

	/**
	 * Ends all reservations, present and later ones, without a grace period: no timer
	 * would end them, and the session may belong to a client that lives on.
	 */
	void close() {
		this.closed = true;
		this.reservations.forEach(this::endReservation);
	}

	/**
	 * Deletes a reservation without reading it. That may be the reservation of another
	 * process, whose lock is then free a little earlier, but never a lock that is held.
	 */
	private void endReservation(LockNode node) {
		if (!this.reservations.remove(node)) {
			return;
		}
		node.session()
			.operations()
			.delete(node.path().lockNode(), LockNodeState.RESERVED.version())
			.whenComplete((deleted, failure) -> {
				if (failure != null) {
					logger.debug("The reservation of '" + node.key() + "' was not deleted at the end", failure);
				}
			});
	}

	private void expireReservation(LockNode node) {
		if (node.session().hasEnded()) {
			this.reservations.remove(node);
			return;
		}
		ZooKeeperOperations operations = node.session().operations();
		String path = node.path().lockNode();
		CompletableFuture<Boolean> synced = operations.sync(path);
		CompletableFuture<Optional<String>> head = head(node);
		operations.read(path, null)
			.thenCombine(synced, (read, ready) -> read)
			.thenCombine(head,
					(read, entry) -> (node.isSameAs(read) && read.isIn(LockNodeState.RESERVED))
							? deleteReservation(node, entry) : CompletableFuture.completedFuture(true))
			.thenCompose((next) -> next)
			.whenComplete((done, failure) -> {
				if (failure != null && !ZooKeeperErrors.is(failure, Code.NONODE)) {
					logger.debug("The reservation of '" + node.key() + "' could not be ended", failure);
					expireReservation(node, RETRY_PAUSE);
				}
				else if (Boolean.FALSE.equals(done)) {
					expireReservation(node, HEAD_CHANGED_PAUSE);
				}
				else {
					this.reservations.remove(node);
				}
			});
	}

	/**
	 * Deletes a reservation together with the head that did not use it.
	 * @return completes with whether that is done
	 */
	private static CompletableFuture<Boolean> deleteReservation(LockNode node, Optional<String> head) {
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
