package io.distributedlock.zookeeper.node;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.zookeeper.session.LockNodeState;
import io.distributedlock.zookeeper.session.ZooKeeperErrors;

/**
 * Reservations that this process has made for the heads of wait queues. A head that does
 * not use its reservation within the grace period loses it, and its queue entry with it.
 * Only the last reservation of a lock can still be unused. Nothing here blocks.
 */
public final class Reservations {

	/** How long a lock is reserved for the head of its wait queue. */
	static final Duration GRACE = Duration.ofMillis(100);

	/** The pause after a connection or a right was lost within a grace period. */
	static final Duration RETRY_PAUSE = Duration.ofMillis(250);

	private static final Log logger = LogFactory.getLog(Reservations.class);

	/** The pause after the head of the queue has changed at the end of a grace period. */
	private static final Duration HEAD_CHANGED_PAUSE = Duration.ofMillis(5);

	private final LockTimer timer;

	/** The last reservation of each lock, until it is used or deleted. */
	private final Map<LockKey, LockNode> last = new ConcurrentHashMap<>();

	private volatile boolean closed;

	public Reservations(LockTimer timer) {
		this.timer = timer;
	}

	private static CompletableFuture<Optional<String>> head(LockNode node) {
		return node.session().operations().children(node.path().queue()).handle((children, failure) -> {
			if (failure != null && !ZooKeeperErrors.is(failure, Code.NONODE)) {
				return CompletableFuture.<Optional<String>>failedFuture(failure);
			}
			return CompletableFuture.completedFuture((children != null)
					? WaitQueueOrder.sort(children.names()).stream().findFirst() : Optional.<String>empty());
		}).thenCompose((next) -> next);
	}

	/**
	 * Adds a reservation, which is deleted if it is still unused after a delay, or at
	 * once after {@link #close()}.
	 * @param node the reserved lock node
	 */
	void add(LockNode node, Duration delay) {
		this.last.merge(node.key(), node, (before, added) -> (before.czxid() > added.czxid()) ? before : added);
		if (this.closed) {
			end(node);
		}
		else {
			expireLater(node, delay);
		}
	}

	private void expireLater(LockNode node, Duration delay) {
		// Where the timer is closed, the reservation ends with the session.
		this.timer.scheduleIfOpen(() -> expire(node), delay);
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
		this.last.values().forEach(this::end);
	}

	/** Returns whether each reservation was used or has ended. */
	public boolean isEmpty() {
		return this.last.isEmpty();
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
					this.last.remove(node.key(), node);
				}
			});
	}

	/**
	 * Returns whether this process has just reserved a lock for another one, so that an
	 * attempt without a queue entry is not worth a command.
	 */
	public boolean contains(LockKey key) {
		return this.last.containsKey(key);
	}

	/**
	 * Records that this process has acquired a lock, so that its earlier reservations of
	 * it were used.
	 */
	public void recordGrant(LockNode node) {
		this.last.computeIfPresent(node.key(), (key, reserved) -> (reserved.czxid() < node.czxid()) ? null : reserved);
	}

	private void expire(LockNode node) {
		if (this.last.get(node.key()) != node) {
			return;
		}
		if (node.session().hasEnded()) {
			this.last.remove(node.key(), node);
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
					this.last.remove(node.key(), node);
				}
			});
	}

	private static CompletableFuture<Boolean> isUnused(LockNode node) {
		return node.session()
			.operations()
			.read(node.path().lockNode(), null)
			.thenApply((read) -> node.isSameAs(read) && read.isIn(LockNodeState.RESERVED));
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
		return synced.thenCombine(unused, (ready, reserved) -> reserved)
			.thenCombine(head,
					(reserved, entry) -> reserved ? delete(node, entry) : CompletableFuture.completedFuture(true))
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
