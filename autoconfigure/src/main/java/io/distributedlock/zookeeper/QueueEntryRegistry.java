package io.distributedlock.zookeeper;

import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.zookeeper.node.QueueNode;
import io.distributedlock.zookeeper.session.CallDeadline;
import io.distributedlock.zookeeper.session.Session;
import io.distributedlock.zookeeper.session.ZooKeeperErrors;

/**
 * Registry of this process's entries in wait queues, at most one per lock, and one more
 * for each limit of its shares. An entry belongs to the process: the next contender for
 * the same uses it again.
 */
final class QueueEntryRegistry {

	private static final Log logger = LogFactory.getLog(QueueEntryRegistry.class);

	private final ConcurrentHashMap<EntryId, QueueNode> entries = new ConcurrentHashMap<>();

	private final Set<Deletion> deletions = ConcurrentHashMap.newKeySet();

	/**
	 * Returns the entry for a lock, a new one without a node if there is none, and
	 * assigns it to a contender.
	 * @return {@code null} if the session has ended: its entry does not replace that of a
	 * later session
	 */
	@Nullable QueueNode getOrCreate(ContenderId contention, Session session) {
		QueueNode entry = this.entries.compute(EntryId.of(contention), (id, present) -> {
			boolean kept = session.hasEnded() || (present != null && present.session() == session);
			return kept ? present : newEntry(id, contention, session);
		});
		if (entry != null && entry.session() == session && session.hasEnded()) {
			// It may have been added after the entries of the session were removed.
			remove(entry);
		}
		if (entry == null || entry.session() != session || session.hasEnded()) {
			return null;
		}
		entry.assign(contention.number(), contention.changed());
		return entry;
	}

	private QueueNode newEntry(EntryId id, ContenderId contention, Session session) {
		return new QueueNode(id.key(), contention.path(), id.limit(), session, new EntryWatcher(this, id),
				contention.changed());
	}

	/**
	 * Lets a call use an entry once no other call uses it.
	 * @param <T> the type of the result
	 * @param work uses the entry
	 * @param otherwise is done instead if the entry was removed before
	 */
	<T> CompletableFuture<T> use(QueueNode entry, CallDeadline deadline, Supplier<CompletableFuture<T>> work,
			Supplier<CompletableFuture<T>> otherwise) {
		QueueNode.Turn turn = entry.nextTurn();
		return deadline.awaitBefore(turn.begun(), QueueEntryRegistry::inUse)
			.thenCompose((begun) -> use(entry, deadline, work))
			.whenComplete((result, failure) -> end(entry, turn))
			.thenCompose(
					(result) -> result.isPresent() ? CompletableFuture.completedFuture(result.get()) : otherwise.get());
	}

	private <T> CompletableFuture<Optional<T>> use(QueueNode entry, CallDeadline deadline,
			Supplier<CompletableFuture<T>> work) {
		// A withdrawal that does not see a new entry comes after the end of its attempt.
		if (deadline.isAbandoned()) {
			return deadline.abandoned();
		}
		if (this.entries.get(EntryId.of(entry)) != entry) {
			return CompletableFuture.completedFuture(Optional.empty());
		}
		return work.get().thenApply((result) -> Optional.of(result));
	}

	private void end(QueueNode entry, QueueNode.Turn turn) {
		if (turn.begun().isDone() && entry.isEmpty()) {
			remove(entry);
		}
		turn.end();
	}

	private static LockException inUse() {
		return LockProviderException.nothingSent(LockError.STORE_TIMEOUT, ZooKeeperErrors.PROVIDER,
				"has not yet answered an earlier request for the same lock", null);
	}

	/**
	 * Returns the entry that a contender uses, or {@code null}.
	 * @param session the session it has to belong to, or {@code null} for any
	 */
	@Nullable QueueNode find(ContenderId contention, @Nullable Session session) {
		QueueNode entry = this.entries.get(EntryId.of(contention));
		return (entry != null && (session == null || entry.session() == session)) ? entry : null;
	}

	void remove(QueueNode entry) {
		this.entries.remove(EntryId.of(entry), entry);
	}

	/**
	 * Deletes the entry's node before this process reserves the lock: the reservation is
	 * for another process, and a waiter of this one is enqueued again at the end. Entries
	 * for shares of the lock stay: they are other contenders.
	 */
	void dequeue(LockKey key) {
		QueueNode entry = this.entries.get(new EntryId(key, 0));
		if (entry != null && deleteNode(entry)) {
			entry.notifyContender();
		}
	}

	/**
	 * Deletes the node of an entry without waiting for the answer.
	 * @return {@code false} if the entry has none
	 */
	boolean deleteNode(QueueNode entry) {
		String node = entry.node();
		if (node == null || !entry.deleted(node)) {
			return false;
		}
		delete(new Deletion(entry.session(), node));
		return true;
	}

	private void delete(Deletion deletion) {
		this.deletions.add(deletion);
		deletion.session().operations().delete(deletion.node(), -1).whenComplete((deleted, failure) -> {
			if (failure != null && !ZooKeeperErrors.is(failure, Code.NONODE)) {
				logger.debug("The queue entry '" + deletion.node() + "' could not be deleted", failure);
			}
			if (failure == null || !ZooKeeperErrors.isUnclear(failure) || deletion.session().hasEnded()) {
				this.deletions.remove(deletion);
			}
		});
	}

	/**
	 * Repeats unanswered deletions of a session whose connection is back, and notifies
	 * all contenders, because watch events may be lost.
	 */
	void retry(Session session) {
		retryDeletions(session);
		this.entries.values().forEach(QueueNode::notifyContender);
	}

	/** Repeats unanswered deletions of a session. */
	void retryDeletions(Session session) {
		for (Deletion deletion : this.deletions) {
			if (deletion.session() == session) {
				delete(deletion);
			}
		}
	}

	/** Returns whether a deletion has had no answer. */
	boolean hasDeletions() {
		return !this.deletions.isEmpty();
	}

	/** Deletes the nodes of all entries, which a client that lives on would keep. */
	void close() {
		this.entries.values().forEach(this::deleteNode);
	}

	/** Removes the entries of a session that has ended, and notifies their contenders. */
	void removeAll(Session session) {
		this.deletions.removeIf((deletion) -> deletion.session() == session);
		for (QueueNode entry : this.entries.values()) {
			if (entry.session() == session) {
				remove(entry);
				entry.notifyContender();
			}
		}
	}

	/**
	 * What an entry is for.
	 *
	 * @param limit the most shares that there may be with its own, or 0 for the whole
	 * lock
	 */
	private record EntryId(LockKey key, int limit) {

		private static EntryId of(ContenderId contention) {
			return new EntryId(contention.key(), contention.limit());
		}

		private static EntryId of(QueueNode entry) {
			return new EntryId(entry.key(), entry.limit());
		}

	}

	/**
	 * Watcher for one entry. Equal to each other watcher for the same, so that
	 * ZooKeeper's client keeps one per node, however often the lock is waited for.
	 */
	private record EntryWatcher(QueueEntryRegistry registry, EntryId id) implements Watcher {

		@Override
		public void process(WatchedEvent event) {
			QueueNode entry = this.registry.entries.get(this.id);
			if (entry != null) {
				entry.process(event);
			}
		}

	}

	/** Deletion of a queue node that is not confirmed yet. */
	private record Deletion(Session session, String node) {

	}

}
