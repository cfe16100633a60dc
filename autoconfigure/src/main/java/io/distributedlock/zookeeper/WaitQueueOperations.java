package io.distributedlock.zookeeper;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProviderException;

/**
 * Operations of one process on the wait queue of one lock, for one call. The calling
 * thread has the lock of the queue entry.
 */
final class WaitQueueOperations {

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
	void resolveUnclear() {
		if (!this.entry.isUnclear()) {
			return;
		}
		CompletableFuture<Boolean> synced = this.operations.sync(this.path.queue());
		List<String> own = entries().stream().filter((child) -> child.startsWith(prefix())).toList();
		this.deadline.await(synced);
		for (String child : own) {
			String node = this.path.queue() + "/" + child;
			if (this.entry.node() == null) {
				this.session.allocate(this.path.queueEntryBytes());
				this.entry.created(node);
			}
			else if (!node.equals(this.entry.node())) {
				this.entry.markUnclear();
				delete(node);
			}
		}
		this.entry.markClear();
	}

	/**
	 * Creates the entry's node at the end of the queue.
	 * @return {@code false} if the session is full: the process waits without an entry
	 */
	boolean enqueue() {
		if (!this.session.tryAllocate(this.path.queueEntryBytes())) {
			return false;
		}
		this.entry.markUnclear();
		boolean created = false;
		try {
			this.entry.created(this.path.queue() + "/" + create());
			created = true;
		}
		catch (LockProviderException ex) {
			if (ex.getCause() != null && !ZooKeeperErrors.isUnclear(ex.getCause())) {
				this.entry.markClear();
			}
			throw ex;
		}
		finally {
			if (!created) {
				this.session.free(this.path.queueEntryBytes());
			}
		}
		return true;
	}

	/** Creates the node, and the queue's container and its parents where missing. */
	private String create() {
		String node = this.path.queue() + "/" + prefix();
		while (true) {
			try {
				return this.deadline.await(this.operations.createSequential(node));
			}
			catch (LockProviderException ex) {
				if (!ZooKeeperErrors.is(ex.getCause(), Code.NONODE)) {
					throw ex;
				}
			}
			String created = this.deadline.await(this.operations.createSequentialInContainer(this.path.queue(), node));
			if (!created.isEmpty()) {
				return created;
			}
			this.deadline
				.await(this.persistentNodes.ensureWithParents(this.operations, NodePaths.parent(this.path.queue())));
		}
	}

	private String prefix() {
		return WaitQueueOrder.prefix(this.session.id());
	}

	private List<String> entries() {
		try {
			return WaitQueueOrder.sort(this.deadline.await(this.operations.children(this.path.queue())));
		}
		catch (LockProviderException ex) {
			if (ZooKeeperErrors.is(ex.getCause(), Code.NONODE)) {
				return List.of();
			}
			throw ex;
		}
	}

	/**
	 * Ensures that the entry is known to be the head, or that it watches its predecessor.
	 * @param node the entry's node
	 * @return {@code false} if the queue has changed meanwhile
	 */
	boolean ensurePosition(String node) {
		if (this.entry.isHead() || (this.entry.isPositionKnown() && this.entry.isWatching())) {
			return true;
		}
		List<String> entries = entries();
		int position = entries.indexOf(node.substring(node.lastIndexOf('/') + 1));
		if (position < 0) {
			this.entry.deleted(node);
			return false;
		}
		this.entry.setPosition(position);
		if (position == 0) {
			return true;
		}
		String predecessor = this.path.queue() + "/" + entries.get(position - 1);
		this.entry.beginWatch(predecessor);
		boolean watching = false;
		try {
			watching = this.deadline.awaitNode(this.operations.read(predecessor, this.entry.watcher())) != null;
			return watching;
		}
		finally {
			if (!watching) {
				this.entry.clearPosition();
			}
		}
	}

	/**
	 * Attempts to acquire the lock from the queue entry. The head first sets the present
	 * lock node to {@link LockNodeState#CONTENDED}, so that its holder reserves the lock,
	 * and watches it. All requests are sent at once, so that no newcomer can acquire and
	 * release the lock in between again and again.
	 * @param node the entry's node
	 * @param reserved whether the lock node was last read as reserved
	 */
	Result attempt(String node, boolean reserved, AcquireOperation operation) {
		if (this.entry.isHead() && (this.entry.pollNotification() || reserved)) {
			LockNode acquired = operation.await(this.entry, node, operation.sendReplaceReserved(node));
			if (acquired != null || this.entry.node() == null) {
				return new Result(acquired, null);
			}
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
		boolean watching = false;
		try {
			LockNode acquired = operation.await(this.entry, node, sent);
			ZNode present = (acquired == null) ? this.deadline.awaitNode(read) : null;
			watching = present != null && !present.isIn(LockNodeState.HELD);
			if (contended != null && present != null && !watching) {
				requirePermitted(contended);
			}
			return new Result(acquired, present);
		}
		finally {
			if (watch && !watching) {
				// No watch may be set, or the present lock node came after the touch.
				this.entry.cancelWatch();
			}
		}
	}

	/**
	 * Throws the refusal of a touch that was answered before: without the right to write,
	 * the head would try without end.
	 */
	private static void requirePermitted(CompletableFuture<Stat> contended) {
		Throwable failure = contended.handle((stat, ex) -> ex).getNow(null);
		if (failure != null && ZooKeeperErrors.is(failure, Code.NOAUTH)) {
			throw ZooKeeperErrors.translate(failure);
		}
	}

	/**
	 * Removes the entry from the queue. A reservation then belongs to the next entry; in
	 * an empty queue it is deleted.
	 * @return whether the entry had a node
	 */
	boolean dequeue() {
		resolveUnclear();
		String node = this.entry.node();
		if (node == null) {
			return false;
		}
		delete(node);
		this.entry.deleted(node);
		ZNode present = this.deadline.awaitNode(this.operations.read(this.path.lockNode(), null));
		if (present != null && present.isIn(LockNodeState.RESERVED) && entries().isEmpty()) {
			this.operations.delete(this.path.lockNode(), LockNodeState.RESERVED.version());
		}
		return true;
	}

	private void delete(String node) {
		try {
			this.deadline.await(this.operations.delete(node, -1));
		}
		catch (LockProviderException ex) {
			if (!ZooKeeperErrors.is(ex.getCause(), Code.NONODE)) {
				throw ex;
			}
		}
	}

	/**
	 * Result of an attempt from a queue entry.
	 *
	 * @param acquired the lock node of this process, or {@code null}
	 * @param present the lock node of another process, or {@code null}
	 */
	record Result(@Nullable LockNode acquired, @Nullable ZNode present) {

	}

}
