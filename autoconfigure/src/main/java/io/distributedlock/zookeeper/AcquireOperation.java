package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooDefs;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProviderException;

/**
 * Commands of one attempt that create a lock node. The server alone decides each of them:
 * the lock node was missing, or was reserved for the head of the wait queue. A command
 * that is sent from a queue entry deletes that entry in the same transaction, and sets
 * the new lock node to {@link LockNodeState#CONTENDED}, for other entries may follow.
 * <p>
 * An unanswered command is added to the {@link UndecidedCommands}.
 */
final class AcquireOperation {

	/** The result where the lock node exists. */
	private static final long BUSY = 0;

	/** The result where the parent of the lock node is missing. */
	private static final long NO_PARENT = -1;

	/** The result where the queue entry is missing. */
	private static final long NO_ENTRY = -2;

	private static final byte[] EMPTY = {};

	private final LockAttempt attempt;

	private final String lockNode;

	private final Duration lease;

	private final UndecidedCommands undecided;

	private final PersistentNodes persistentNodes;

	private final CallDeadline deadline;

	/**
	 * Creates the operation of one attempt.
	 * @param lease how long a grant lasts if it is not renewed
	 */
	AcquireOperation(LockAttempt attempt, Duration lease, UndecidedCommands undecided, PersistentNodes persistentNodes,
			CallDeadline deadline) {
		this.attempt = attempt;
		this.lockNode = attempt.path().lockNode();
		this.lease = lease;
		this.undecided = undecided;
		this.persistentNodes = persistentNodes;
		this.deadline = deadline;
	}

	/**
	 * Creates the lock node with one request, without a queue entry.
	 * @return the lock node, or {@code null} if the lock is busy
	 */
	@Nullable LockNode create() {
		long czxid = await(sendCreate());
		while (czxid == NO_PARENT) {
			createParents();
			czxid = await(sendCreate());
		}
		return granted(czxid);
	}

	private void createParents() {
		this.deadline.await(this.persistentNodes.ensureWithParents(this.attempt.session().operations(),
				NodePaths.parent(this.lockNode)));
	}

	private CompletableFuture<Long> sendCreate() {
		return this.attempt.session()
			.operations()
			.create(this.lockNode, EMPTY, CreateMode.EPHEMERAL)
			.handle((stat, failure) -> (failure != null) ? refused(failure)
					: CompletableFuture.completedFuture(stat.getCzxid()))
			.thenCompose((next) -> next);
	}

	private static CompletableFuture<Long> refused(Throwable failure) {
		Code code = ZooKeeperErrors.code(failure);
		if (code == Code.NODEEXISTS) {
			return CompletableFuture.completedFuture(BUSY);
		}
		return (code == Code.NONODE) ? CompletableFuture.completedFuture(NO_PARENT)
				: CompletableFuture.failedFuture(failure);
	}

	/** Sends the transaction that creates a missing lock node from a queue entry. */
	CompletableFuture<Long> sendCreate(String entryNode) {
		return send(List.of(createStep(), contendStep(), Op.delete(entryNode, -1)));
	}

	/** Sends the transaction that replaces a reserved lock node from a queue entry. */
	CompletableFuture<Long> sendReplaceReserved(String entryNode) {
		return send(List.of(Op.delete(this.lockNode, LockNodeState.RESERVED.version()), createStep(), contendStep(),
				Op.delete(entryNode, -1)));
	}

	private Op createStep() {
		return this.attempt.session().operations().createStep(this.lockNode);
	}

	private Op contendStep() {
		return ZooKeeperOperations.touchStep(this.lockNode, LockNodeState.HELD.version());
	}

	private CompletableFuture<Long> send(List<Op> steps) {
		return this.attempt.session().operations().multi(steps).thenApply((results) -> czxid(steps, results));
	}

	/**
	 * Waits for a transaction that was sent from a queue entry. A parent that was missing
	 * exists afterwards.
	 * @return the lock node, or {@code null} if the lock was not acquired
	 */
	@Nullable LockNode await(QueueEntry entry, String entryNode, CompletableFuture<Long> sent) {
		long czxid = await(sent);
		if (czxid == NO_PARENT) {
			createParents();
		}
		if (czxid == NO_ENTRY || czxid > 0) {
			entry.deleted(entryNode);
		}
		return granted(czxid);
	}

	private static long czxid(List<Op> steps, List<OpResult> results) {
		long czxid = BUSY;
		for (int i = 0; i < results.size(); i++) {
			if (results.get(i) instanceof OpResult.SetDataResult contended) {
				czxid = contended.getStat().getCzxid();
			}
			else if (results.get(i) instanceof OpResult.ErrorResult error && error.getErr() != Code.OK.intValue()
					&& error.getErr() != Code.RUNTIMEINCONSISTENCY.intValue()) {
				return refused(steps, i, Code.get(error.getErr()));
			}
		}
		return czxid;
	}

	private static long refused(List<Op> steps, int step, @Nullable Code code) {
		if (code == Code.NONODE) {
			return missing(steps, step);
		}
		if (code == Code.NODEEXISTS || code == Code.BADVERSION) {
			return BUSY;
		}
		throw new CompletionException(
				KeeperException.create((code != null) ? code : Code.SYSTEMERROR, steps.get(step).getPath()));
	}

	/** Returns what a step has missed; a missing lock node is created by the next try. */
	private static long missing(List<Op> steps, int step) {
		if (steps.get(step).getType() == ZooDefs.OpCode.create) {
			return NO_PARENT;
		}
		return (step == steps.size() - 1) ? NO_ENTRY : BUSY;
	}

	private long await(CompletableFuture<Long> sent) {
		try {
			return this.deadline.await(sent);
		}
		catch (LockProviderException ex) {
			this.undecided.addAcquire(this.attempt, sent);
			throw ex;
		}
	}

	private @Nullable LockNode granted(long czxid) {
		return (czxid > 0) ? new LockNode(this.attempt, czxid, this.lease) : null;
	}

}
