package io.distributedlock.zookeeper.node;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

import io.distributedlock.zookeeper.session.CallDeadline;
import io.distributedlock.zookeeper.session.LockNodeState;
import io.distributedlock.zookeeper.session.NodePaths;
import io.distributedlock.zookeeper.session.PersistentNodes;
import io.distributedlock.zookeeper.session.ZooKeeperErrors;
import io.distributedlock.zookeeper.session.ZooKeeperOperations;

/**
 * Commands of one attempt that create a lock node. The server alone decides each of them:
 * the lock node was missing, or was reserved for the head of the wait queue. A command
 * that is sent from a queue entry deletes that entry in the same transaction, and sets
 * the new lock node to {@link LockNodeState#CONTENDED}, for other entries may follow.
 * <p>
 * The node of a share is a child of a container that has the path of the lock node: the
 * first share creates both, further ones {@linkplain #join join}.
 * <p>
 * Each command completes with the {@code czxid} of the lock node, or with at most 0 if
 * the lock is busy. An unanswered one is added to the {@link UnacknowledgedCommands}.
 */
public final class AcquireOperation {

	/** The result where the lock node exists. */
	private static final long BUSY = 0;

	/** The result where the parent of the lock node is missing. */
	private static final long NO_PARENT = -1;

	/** The result where the queue entry is missing. */
	private static final long NO_ENTRY = -2;

	/** The result where an entry has come back to its earlier place in the queue. */
	private static final long OTHER_ORDER = -3;

	private static final byte[] EMPTY = {};

	private final NodeAttempt attempt;

	private final String lockNode;

	private final UnacknowledgedCommands undecided;

	private final PersistentNodes persistentNodes;

	private final CallDeadline deadline;

	/** Creates the operation of one attempt. */
	public AcquireOperation(NodeAttempt attempt, UnacknowledgedCommands undecided, PersistentNodes persistentNodes,
			CallDeadline deadline) {
		this.attempt = attempt;
		this.lockNode = attempt.path().lockNode();
		this.undecided = undecided;
		this.persistentNodes = persistentNodes;
		this.deadline = deadline;
	}

	/** Creates the lock node with one request, without a queue entry. */
	public CompletableFuture<Long> create() {
		if (this.attempt.path().isShare()) {
			return this.deadline.maySend() ? send(null, null, createSteps(null)) : this.deadline.abandoned();
		}
		CompletableFuture<Long> end = new CompletableFuture<>();
		create(CallDeadline.to(end));
		return end;
	}

	/** Creates the lock node as {@link #create()} does. */
	public void create(CallDeadline.Continuation<Long> next) {
		if (!this.deadline.maySend()) {
			next.accept(null, CallDeadline.newAbandonment());
			return;
		}
		CompletableFuture<Stat> sent = this.attempt.session()
			.operations()
			.create(this.lockNode, EMPTY, CreateMode.EPHEMERAL);
		this.deadline.await(sent, (stat, failure) -> {
			if (stat != null) {
				next.accept(stat.getCzxid(), null);
			}
			else {
				notCreated(sent, Objects.requireNonNull(failure), next);
			}
		});
	}

	private void notCreated(CompletableFuture<Stat> sent, Throwable failure, CallDeadline.Continuation<Long> next) {
		Code code = ZooKeeperErrors.code(failure);
		if (code == Code.NODEEXISTS) {
			next.accept(BUSY, null);
		}
		else if (code == Code.NONODE) {
			createParents().whenComplete((ready, ex) -> {
				if (ex != null) {
					next.accept(null, ex);
				}
				else {
					create(next);
				}
			});
		}
		else {
			this.undecided.addAcquire(this.attempt, sent.handle((stat, late) -> lateCzxid(stat, late)));
			next.accept(null, failure);
		}
	}

	/** Returns what the late answer to an undecided command says. */
	private static long lateCzxid(@Nullable Stat stat, @Nullable Throwable failure) {
		if (stat != null) {
			return stat.getCzxid();
		}
		Code code = ZooKeeperErrors.code(failure);
		if (code == Code.NODEEXISTS || code == Code.NONODE) {
			return BUSY;
		}
		throw new CompletionException(failure);
	}

	private CompletableFuture<Boolean> createParents() {
		return this.deadline.await(this.persistentNodes.ensureWithParents(this.attempt.session().operations(),
				NodePaths.parent(this.attempt.path().exclusive().lockNode())));
	}

	/** Creates a missing lock node in one transaction, from the node of a queue entry. */
	public CompletableFuture<Long> create(QueueNode entry, String entryNode) {
		return send(entry, entryNode, createSteps(entryNode));
	}

	/**
	 * Replaces a reserved lock node in one transaction, from the node of a queue entry
	 * that was the head when it read the queue.
	 */
	public CompletableFuture<Long> replaceReserved(QueueNode entry, String entryNode) {
		List<Op> steps = createSteps(entryNode);
		steps.add(0, Op.check(this.attempt.path().queue(), entry.queueVersion()));
		steps.add(1, Op.delete(this.attempt.path().exclusive().lockNode(), LockNodeState.RESERVED.version()));
		return send(entry, entryNode, steps);
	}

	/** The version of a container says whether others wait, as that of a lock node. */
	private List<Op> createSteps(@Nullable String entryNode) {
		ZooKeeperOperations operations = this.attempt.session().operations();
		String shares = this.attempt.path().shares();
		List<Op> steps = new ArrayList<>();
		if (shares != null) {
			steps.add(operations.createContainerStep(shares));
		}
		steps.add(operations.createStep(this.lockNode));
		steps.add(ZooKeeperOperations.touchStep((shares != null && entryNode != null) ? shares : this.lockNode,
				LockNodeState.HELD.version()));
		if (entryNode != null) {
			steps.add(Op.delete(entryNode, -1));
		}
		return steps;
	}

	/**
	 * Adds a share to the container of others. Of those that are created at the same
	 * time, the ones beyond the limit are given back: that which was created first stays.
	 * @param entry the queue entry, whose node with a limit is left to the caller
	 * @param entryNode the entry's node, which was the head when it read the queue, or
	 * {@code null} if it has none
	 */
	public CompletableFuture<Long> join(QueueNode entry, @Nullable String entryNode) {
		if (!this.deadline.maySend()) {
			return this.deadline.abandoned();
		}
		List<Op> steps = new ArrayList<>();
		if (entryNode != null) {
			steps.add(Op.check(this.attempt.path().queue(), entry.queueVersion()));
		}
		ZooKeeperOperations operations = this.attempt.session().operations();
		steps.add(operations.createStep(this.lockNode));
		steps.add(ZooKeeperOperations.touchStep(this.lockNode, LockNodeState.HELD.version()));
		int limit = entry.limit();
		boolean limited = limit < Integer.MAX_VALUE;
		if (entryNode != null && !limited) {
			steps.add(Op.delete(entryNode, -1));
		}
		CompletableFuture<Long> created = multi(steps);
		CompletableFuture<Long> sent = limited ? created
			.thenCombine(operations.childCount(NodePaths.parent(this.lockNode)),
					(czxid, shares) -> (czxid > 0 && shares > limit) ? giveBackBeyond(limit, czxid)
							: CompletableFuture.completedFuture(czxid))
			.thenCompose((next) -> next) : created;
		return await(entry, entryNode, steps, sent);
	}

	/** Releases this share unless it is one of the first, in the order of creation. */
	private CompletableFuture<Long> giveBackBeyond(int limit, long czxid) {
		return this.attempt.session()
			.operations()
			.readChildren(NodePaths.parent(this.lockNode))
			.thenCompose((shares) -> {
				long before = shares.values().stream().filter((share) -> share.stat().getCzxid() < czxid).count();
				return (before < limit) ? CompletableFuture.completedFuture(czxid)
						: this.undecided.release(new LockNode(this.attempt, czxid, null, Duration.ZERO))
							.thenApply((outcome) -> BUSY);
			});
	}

	private CompletableFuture<Long> multi(List<Op> steps) {
		return this.attempt.session().operations().multi(steps).thenApply((results) -> czxid(steps, results));
	}

	/** Sends a transaction. A parent that was missing exists afterwards. */
	private CompletableFuture<Long> send(@Nullable QueueNode entry, @Nullable String entryNode, List<Op> steps) {
		return await(entry, entryNode, steps, multi(steps));
	}

	private CompletableFuture<Long> await(@Nullable QueueNode entry, @Nullable String entryNode, List<Op> steps,
			CompletableFuture<Long> sent) {
		return this.deadline.await(sent).whenComplete((czxid, failure) -> {
			if (failure != null) {
				this.undecided.addAcquire(this.attempt, sent);
			}
		}).thenCompose((czxid) -> answered(entry, entryNode, steps, czxid));
	}

	private CompletableFuture<Long> answered(@Nullable QueueNode entry, @Nullable String entryNode, List<Op> steps,
			long czxid) {
		if (entry != null && entryNode != null) {
			if (czxid > 0 && steps.get(steps.size() - 1).getType() == ZooDefs.OpCode.delete) {
				entry.deleted(entryNode);
			}
			else if (czxid == NO_ENTRY) {
				entry.recordPassedOver(entryNode);
			}
			else if (czxid == OTHER_ORDER) {
				entry.clearPosition();
			}
		}
		return (czxid == NO_PARENT) ? createParents().thenApply((ready) -> BUSY)
				: CompletableFuture.completedFuture(czxid);
	}

	private long czxid(List<Op> steps, List<OpResult> results) {
		for (int i = 0; i < results.size(); i++) {
			if (results.get(i) instanceof OpResult.ErrorResult error && error.getErr() != Code.OK.intValue()
					&& error.getErr() != Code.RUNTIMEINCONSISTENCY.intValue()) {
				return refused(steps, i, Code.get(error.getErr()));
			}
		}
		return ZooKeeperOperations.written(results).getCzxid();
	}

	private long refused(List<Op> steps, int step, @Nullable Code code) {
		if (code == Code.NONODE) {
			return missing(steps, step);
		}
		if (code == Code.BADVERSION && steps.get(step).getType() == ZooDefs.OpCode.check) {
			return OTHER_ORDER;
		}
		if (code == Code.NODEEXISTS || code == Code.BADVERSION || code == Code.NOTEMPTY
				|| code == Code.NOCHILDRENFOREPHEMERALS) {
			return BUSY;
		}
		throw new CompletionException(ZooKeeperErrors.failure(code, steps.get(step)));
	}

	/** Returns what a step has missed; a missing lock node is created by the next try. */
	private long missing(List<Op> steps, int step) {
		int type = steps.get(step).getType();
		if (type == ZooDefs.OpCode.createContainer
				|| (type == ZooDefs.OpCode.create && !this.attempt.path().isShare())) {
			return NO_PARENT;
		}
		return (type == ZooDefs.OpCode.check || step == steps.size() - 1) ? NO_ENTRY : BUSY;
	}

}
