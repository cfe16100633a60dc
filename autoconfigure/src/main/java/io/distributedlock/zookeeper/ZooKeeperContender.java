package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;

/**
 * Contender of this process for one lock. An attempt at a free lock costs one request. A
 * contender that waits enters the wait queue, watches the node before its entry, and
 * attempts again when that node changes, or after a second.
 */
final class ZooKeeperContender implements LockContender {

	/** The pause of a contender whose watch is set. */
	private static final Duration POLL = Duration.ofSeconds(1);

	/** The pause of a contender without a watch: the shortest time of a reservation. */
	private static final Duration POLL_WITHOUT_WATCH = Duration.ofMillis(100);

	/** How often the lock node or the queue may change during one attempt. */
	private static final int MAX_ROUNDS = 8;

	private final ProviderComponents components;

	private final LockKey key;

	private final LockPath path;

	private final long number;

	private final Runnable changed;

	/**
	 * Creates a contender.
	 * @param number higher than that of each earlier contender
	 * @param changed runs when another attempt may succeed; must not block
	 */
	ZooKeeperContender(ProviderComponents components, LockKey key, LockPath path, long number, Runnable changed) {
		this.components = components;
		this.key = key;
		this.path = path;
		this.number = number;
		this.changed = changed;
	}

	@Override
	public AttemptResult attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
		Deadline end = Deadline.after(timeout);
		Session session = this.components.sessions().awaitReady(end);
		LockNode held = this.components.lockNodes().find(this.key, owner);
		if (held != null) {
			return new AttemptResult.Granted(held.grant());
		}
		this.components.shortLeaseWarning().check(lease, session.timeoutNanos());
		CallDeadline deadline = new CallDeadline(session, end);
		awaitUndecided(deadline);
		if (!session.tryAllocate(this.path.lockNodeBytes())) {
			throw LockProviderException.nothingSent(LockError.SESSION_FULL, ZooKeeperErrors.PROVIDER,
					"cannot hold more locks in this process's session: their paths together are longer than "
							+ Session.MAX_PATH_BYTES + " bytes",
					null);
		}
		AttemptResult result = null;
		try {
			result = attempt(new LockAttempt(this.key, this.path, owner, session), lease, willWait, deadline);
			return result;
		}
		finally {
			if (!(result instanceof AttemptResult.Granted)) {
				session.free(this.path.lockNodeBytes());
			}
		}
	}

	/** Waits until no earlier command for the same lock is undecided. */
	private void awaitUndecided(CallDeadline deadline) {
		UndecidedCommands undecided = this.components.undecided();
		for (CompletableFuture<ReleaseOutcome> end = undecided.find(this.key); end != null; end = undecided
			.find(this.key)) {
			try {
				deadline.await(end);
			}
			catch (LockProviderException ex) {
				throw LockProviderException.nothingSent(ex.error(), ZooKeeperErrors.PROVIDER,
						"has not yet answered whether an earlier command for the same lock took effect", ex);
			}
		}
	}

	private AttemptResult attempt(LockAttempt attempt, Duration lease, boolean willWait, CallDeadline deadline) {
		AcquireOperation operation = new AcquireOperation(attempt, lease, this.components.undecided(),
				this.components.sessions().persistentNodes(), deadline);
		Session session = attempt.session();
		QueueEntry entry = lockExistingEntry(session, deadline);
		boolean attempted = entry == null;
		if (entry == null) {
			AttemptResult result = attemptWithoutEntry(operation, session, deadline);
			if (!willWait || result instanceof AttemptResult.Granted) {
				return result;
			}
		}
		else if (willWait) {
			entry.assign(this.number, this.changed);
		}
		while (entry == null) {
			entry = lockEntry(session, deadline);
		}
		try {
			return attemptFromQueue(entry, operation, willWait, deadline, attempted);
		}
		finally {
			if (entry.isEmpty()) {
				this.components.queueEntries().remove(entry);
			}
			entry.lock().unlock();
		}
	}

	private @Nullable QueueEntry lockExistingEntry(Session session, CallDeadline deadline) {
		QueueEntry entry = this.components.queueEntries().find(this.key, session);
		return (entry != null && lockIfRegistered(entry, deadline)) ? entry : null;
	}

	private @Nullable QueueEntry lockEntry(Session session, CallDeadline deadline) {
		QueueEntry entry = this.components.queueEntries()
			.getOrCreate(this.key, this.path, session, this.number, this.changed);
		return lockIfRegistered(entry, deadline) ? entry : null;
	}

	/** Locks an entry unless it was removed while this thread waited for its lock. */
	private boolean lockIfRegistered(QueueEntry entry, CallDeadline deadline) {
		lock(entry, deadline);
		if (this.components.queueEntries().contains(entry)) {
			return true;
		}
		entry.lock().unlock();
		return false;
	}

	private static void lock(QueueEntry entry, CallDeadline deadline) {
		try {
			if (!entry.lock().tryLock(deadline.remainingNanos(), TimeUnit.NANOSECONDS)) {
				throw LockProviderException.nothingSent(LockError.STORE_TIMEOUT, ZooKeeperErrors.PROVIDER,
						"has not yet answered an earlier request for the same lock", null);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw ZooKeeperErrors.interrupted(ex);
		}
	}

	private AttemptResult attemptWithoutEntry(AcquireOperation operation, Session session, CallDeadline deadline) {
		ZNode present = null;
		for (int round = 0; round < MAX_ROUNDS && present == null; round++) {
			LockNode acquired = operation.create();
			if (acquired != null) {
				return granted(acquired);
			}
			present = read(session, deadline);
		}
		return busy(POLL_WITHOUT_WATCH, present, session, deadline);
	}

	private AttemptResult attemptFromQueue(QueueEntry entry, AcquireOperation operation, boolean willWait,
			CallDeadline deadline, boolean attempted) {
		WaitQueueOperations queue = new WaitQueueOperations(entry, this.components.sessions().persistentNodes(),
				deadline);
		boolean refused = attempted;
		ZNode present = null;
		for (int round = 0; round < MAX_ROUNDS; round++) {
			queue.resolveUnclear();
			String node = entry.node();
			if (node == null) {
				LockNode acquired = refused ? null : operation.create();
				if (acquired != null) {
					return granted(acquired);
				}
				refused = false;
				if (willWait && queue.enqueue()) {
					continue;
				}
				present = read(entry.session(), deadline);
				if (present != null) {
					break;
				}
			}
			else if (queue.ensurePosition(node)) {
				boolean reserved = present != null && present.isIn(LockNodeState.RESERVED);
				WaitQueueOperations.Result result = queue.attempt(node, reserved, operation);
				if (result.acquired() != null) {
					return granted(result.acquired());
				}
				present = result.present();
				if (present != null && mayWait(entry, present)) {
					break;
				}
			}
		}
		Duration retryAfter = entry.isWatching() ? POLL : POLL_WITHOUT_WATCH;
		return busy(retryAfter, present, entry.session(), deadline);
	}

	/** Returns whether a watch is set and the lock is not reserved for this entry. */
	private static boolean mayWait(QueueEntry entry, ZNode present) {
		boolean watching = entry.isPositionKnown() && entry.isWatching();
		return watching && !(entry.isHead() && present.isIn(LockNodeState.RESERVED));
	}

	private @Nullable ZNode read(Session session, CallDeadline deadline) {
		return deadline.awaitNode(session.operations().read(this.path.lockNode(), null));
	}

	private AttemptResult busy(Duration retryAfter, @Nullable ZNode present, Session session, CallDeadline deadline) {
		return new AttemptResult.Busy(retryAfter, this.components.holders().resolve(present, session, deadline));
	}

	private AttemptResult granted(LockNode node) {
		this.components.lockNodes().add(node);
		return new AttemptResult.Granted(node.grant());
	}

	@Override
	public ReleaseOutcome withdraw(Duration timeout) {
		QueueEntry entry = this.components.queueEntries().find(this.key, null);
		if (entry == null || entry.session().hasEnded()) {
			return ReleaseOutcome.NOT_HELD;
		}
		CallDeadline deadline = new CallDeadline(entry.session(), Deadline.after(timeout));
		try {
			lock(entry, deadline);
		}
		catch (LockProviderException ex) {
			return ReleaseOutcome.UNKNOWN;
		}
		try {
			if (!entry.mayBeWithdrawnBy(this.number)) {
				return ReleaseOutcome.NOT_HELD;
			}
			boolean removed = new WaitQueueOperations(entry, this.components.sessions().persistentNodes(), deadline)
				.dequeue();
			this.components.queueEntries().remove(entry);
			return removed ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD;
		}
		catch (LockProviderException ex) {
			return ReleaseOutcome.UNKNOWN;
		}
		finally {
			entry.lock().unlock();
		}
	}

}
