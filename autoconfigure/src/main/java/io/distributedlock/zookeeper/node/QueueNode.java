package io.distributedlock.zookeeper.node;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.Deadline;
import io.distributedlock.zookeeper.session.LockPath;
import io.distributedlock.zookeeper.session.Session;
import io.distributedlock.zookeeper.session.ZooKeeperOperations;

/**
 * Entry of this process in the wait queue of one lock, in one session. The head of the
 * queue watches the lock node, each other entry watches its predecessor. A call changes
 * the entry only in its {@linkplain #nextTurn() turn}; a watch event only sets the next
 * step and notifies the contender.
 */
public final class QueueNode {

	private static final int UNKNOWN_POSITION = -1;

	/** The position after the predecessor was deleted: 0, or unknown. */
	private static final int EXPECTED_HEAD = -2;

	private final LockKey key;

	private final LockPath path;

	private final int limit;

	private final Session session;

	/** The end of the turn that was added last. */
	private final AtomicReference<CompletableFuture<Boolean>> lastTurn = new AtomicReference<>(
			CompletableFuture.completedFuture(true));

	private final Watcher watcher;

	private final AtomicReference<Assignment> assignment;

	/** The path of the entry's node, or {@code null} while there is none. */
	private final AtomicReference<@Nullable String> node = new AtomicReference<>();

	/** The path of the node that other processes have passed over, or {@code null}. */
	private volatile @Nullable String passedOver;

	/** The {@code czxid} of the queue when the position was read. */
	private volatile long queueCzxid;

	/** The version of the queue when the position was read. */
	private volatile int queueVersion;

	/** Whether a node of this entry may exist whose path is not known. */
	private volatile boolean unclear;

	/** The number of entries before this one. */
	private volatile int position = UNKNOWN_POSITION;

	/** Until when a grant need not ask again whether other processes wait. */
	private volatile Deadline othersUntil = Deadline.now();

	/** How the lock node has changed since the head's last attempt. */
	private final AtomicReference<EventType> event = new AtomicReference<>(EventType.None);

	/** The path of the watched node, or {@code null} if no watch is set. */
	private final AtomicReference<@Nullable String> watched = new AtomicReference<>();

	/**
	 * Creates an entry without a node.
	 * @param limit the most shares that there may be with the entry's own, or 0 if it is
	 * for the whole lock
	 * @param watcher the watcher that passes its events to {@link #process}
	 * @param changed notifies the contender; must not block
	 */
	public QueueNode(LockKey key, LockPath path, int limit, Session session, Watcher watcher, Runnable changed) {
		this.key = key;
		this.path = path;
		this.limit = limit;
		this.session = session;
		this.watcher = watcher;
		this.assignment = new AtomicReference<>(new Assignment(0, changed));
	}

	public LockKey key() {
		return this.key;
	}

	public LockPath path() {
		return this.path;
	}

	/** Returns the most shares that there may be with the entry's own, or 0. */
	public int limit() {
		return this.limit;
	}

	public boolean isForShare() {
		return this.limit > 0;
	}

	public Session session() {
		return this.session;
	}

	/** Adds a turn of a call that uses the entry: it begins after all others. */
	public Turn nextTurn() {
		CompletableFuture<Boolean> end = new CompletableFuture<>();
		return new Turn(this.lastTurn.getAndSet(end), end);
	}

	/** Assigns the entry to a contender, which is notified from now on. */
	public void assign(long contenderNumber, Runnable signal) {
		this.assignment.updateAndGet((last) -> new Assignment(Math.max(last.contender(), contenderNumber), signal));
	}

	/**
	 * Ends the assignment to a contender, which is not notified any more.
	 * @return {@code false} if the entry is assigned to another contender
	 */
	public boolean unassign(long contenderNumber) {
		Assignment present = this.assignment
			.updateAndGet((last) -> (last.contender() == contenderNumber) ? new Assignment(contenderNumber, () -> {
				// The number stays, for a late withdrawal.
			}) : last);
		return present.contender() == contenderNumber;
	}

	/**
	 * Returns whether a contender may withdraw the entry: a late withdrawal must not
	 * remove the entry of a later contender.
	 */
	public boolean mayBeWithdrawnBy(long contenderNumber) {
		return present().contender() <= contenderNumber;
	}

	private Assignment present() {
		return Objects.requireNonNull(this.assignment.get());
	}

	public void notifyContender() {
		present().changed().run();
	}

	public @Nullable String node() {
		return this.node.get();
	}

	/** Records that a command is sent whose answer decides whether a node exists. */
	public void markUnclear() {
		this.unclear = true;
	}

	/** Records that no node exists whose path is not known. */
	public void markClear() {
		this.unclear = false;
	}

	/** Records the path of the entry's node, whose bytes the session has counted. */
	public void created(String nodePath) {
		clearPosition();
		this.node.set(nodePath);
		this.passedOver = null;
		this.unclear = false;
	}

	/**
	 * Records that a node is deleted.
	 * @return whether it was the entry's node
	 */
	public boolean deleted(String nodePath) {
		if (!this.node.compareAndSet(nodePath, null)) {
			return false;
		}
		this.session.free(this.path.queueEntryLength());
		clearPosition();
		return true;
	}

	/**
	 * Records that other processes have deleted the entry's node, because this one did
	 * not use its reservation: it keeps its place in the order of arrival.
	 */
	public void recordPassedOver(String nodePath) {
		if (deleted(nodePath)) {
			this.passedOver = nodePath;
		}
	}

	/** Returns the path of the node that was passed over, or {@code null}. */
	public @Nullable String passedOver() {
		return this.passedOver;
	}

	/** Records that there is no place to come back to, or that a grant has used it up. */
	public void forgetPassedOver() {
		this.passedOver = null;
	}

	/** Returns whether the store has neither a node nor a place for this entry. */
	public boolean isEmpty() {
		return !this.unclear && this.node.get() == null && this.passedOver == null;
	}

	public boolean isUnclear() {
		return this.unclear;
	}

	public boolean isHead() {
		return this.position == 0;
	}

	public boolean isPositionKnown() {
		return this.position >= 0;
	}

	/**
	 * Sets the number of entries before this one.
	 * @param queue the queue as it was read; an entry that comes back to its earlier
	 * place raises its version
	 */
	public void setPosition(int number, ZooKeeperOperations.Children queue) {
		this.queueCzxid = queue.czxid();
		this.queueVersion = queue.version();
		boolean others = queue.names().size() > number + 1;
		this.othersUntil = others ? Deadline.after(ReleaseOperations.GRACE) : Deadline.now();
		this.position = number;
	}

	/**
	 * Returns until when a grant takes it for granted that other processes wait: they
	 * did, behind this entry, when the queue was read.
	 */
	public Deadline othersUntil() {
		return this.othersUntil;
	}

	/** Returns the {@code czxid} of the queue when the position was read. */
	public long queueCzxid() {
		return this.queueCzxid;
	}

	/** Returns the version of the queue when the position was read. */
	public int queueVersion() {
		return this.queueVersion;
	}

	/** Records that the position has to be read again. */
	public void clearPosition() {
		this.position = UNKNOWN_POSITION;
		this.watched.set(null);
	}

	/**
	 * Records that the predecessor was deleted: the position has to be read again, and
	 * the entry is the head unless that process has left the queue or an entry has come
	 * back to its earlier place.
	 */
	public void expectHead() {
		this.position = EXPECTED_HEAD;
		this.watched.set(null);
	}

	/** Returns whether the predecessor was deleted since the position was read. */
	public boolean isHeadExpected() {
		return this.position == EXPECTED_HEAD;
	}

	/**
	 * Returns and forgets how the lock node has changed since the head's last attempt: a
	 * change of its data is most likely a reservation.
	 * @return the type of the event, {@link EventType#None} if there was none
	 */
	public EventType pollEvent() {
		EventType last = Objects.requireNonNull(this.event.getAndSet(EventType.None));
		return isHead() ? last : EventType.None;
	}

	public boolean isWatching() {
		return this.watched.get() != null;
	}

	/**
	 * Records a watch; called before the request is sent, for the event may be quick.
	 * @param nodePath the path of the watched node, or {@code null} if no watch is set,
	 * and an earlier event says nothing about what was read since
	 */
	public void watch(@Nullable String nodePath) {
		this.watched.set(nodePath);
		if (nodePath == null) {
			this.event.set(EventType.None);
		}
	}

	public Watcher watcher() {
		return this.watcher;
	}

	/** Processes the event of a watch, which ZooKeeper has removed with it. */
	public void process(WatchedEvent watchEvent) {
		String present = this.watched.get();
		EventType type = watchEvent.getType();
		if (type == EventType.None || present == null || !present.equals(watchEvent.getPath())
				|| !this.watched.compareAndSet(present, null)) {
			return;
		}
		if (isHead()) {
			this.event.set(type);
		}
		else {
			this.position = (type == EventType.NodeDeleted) ? EXPECTED_HEAD : UNKNOWN_POSITION;
		}
		notifyContender();
	}

	/**
	 * The use of the entry by a contender.
	 *
	 * @param contender the number of the last contender that uses the entry
	 * @param changed notifies it; must not block
	 */
	private record Assignment(long contender, Runnable changed) {

	}

	/**
	 * One turn of a call, which has to end it, also if it is not interested any more. No
	 * thread waits for a turn.
	 *
	 * @param begun completes when the turn begins; never fails
	 * @param ended completes when the turn has ended
	 */
	public record Turn(CompletableFuture<Boolean> begun, CompletableFuture<Boolean> ended) {

		/** Ends the turn. One that has not begun ends as soon as it begins. */
		public void end() {
			this.begun.whenComplete((before, failure) -> this.ended.complete(true));
		}

	}

}
