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

import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.OwnerId;

/**
 * The commands that put up a door, each decided by the server alone: the door was not
 * there, or was reserved for the head of the line. Who stands in line leaves it in the
 * same transaction, and marks the door at once, for others stand there too.
 * <p>
 * What is not answered is left to {@link Leftovers}.
 */
final class Taking {

	/** The door is there. */
	private static final long BUSY = 0;

	/** A parent is missing. */
	private static final long NO_PARENT = -1;

	/** The place in line is gone. */
	private static final long NO_PLACE = -2;

	private static final byte[] EMPTY = {};

	private final LockKey key;

	private final LockPath path;

	private final OwnerId owner;

	private final Duration lease;

	private final Session session;

	private final Leftovers leftovers;

	private final Layout layout;

	private final Await await;

	Taking(LockKey key, LockPath path, OwnerId owner, Duration lease, Session session, Leftovers leftovers,
			Layout layout, Await await) {
		this.key = key;
		this.path = path;
		this.owner = owner;
		this.lease = lease;
		this.session = session;
		this.leftovers = leftovers;
		this.layout = layout;
		this.await = await;
	}

	/** Puts up a door where none is. */
	@Nullable Door createDoor() {
		long czxid = granted(create());
		while (czxid == NO_PARENT) {
			createParents();
			czxid = granted(create());
		}
		return door(czxid);
	}

	private void createParents() {
		this.await.result(this.layout.ensureParents(this.session.calls(), LockPaths.parent(this.path.door())));
	}

	private CompletableFuture<Long> create() {
		return this.session.calls()
			.create(this.path.door(), EMPTY, CreateMode.EPHEMERAL)
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

	/** Puts up a door where none is, and leaves the line. */
	CompletableFuture<Long> sendCreate(String node) {
		return send(List.of(this.session.calls().createStep(this.path.door()), Calls.touchStep(this.path.door(), 0),
				Op.delete(node, -1)));
	}

	/** Replaces a door that is reserved, and leaves the line. */
	CompletableFuture<Long> sendTakeOver(String node) {
		return send(List.of(Op.delete(this.path.door(), GiveBack.RESERVED),
				this.session.calls().createStep(this.path.door()), Calls.touchStep(this.path.door(), 0),
				Op.delete(node, -1)));
	}

	private CompletableFuture<Long> send(List<Op> steps) {
		return this.session.calls().multi(steps).thenApply((results) -> czxid(steps, results));
	}

	/**
	 * The door that a command has put up for who stood in line, if it has. A parent that
	 * was missing is there afterwards.
	 */
	@Nullable Door door(Place place, String node, CompletableFuture<Long> sent) {
		long czxid = granted(sent);
		if (czxid == NO_PARENT) {
			createParents();
		}
		if (czxid == NO_PLACE || czxid > 0) {
			place.left(node);
		}
		return door(czxid);
	}

	private static long czxid(List<Op> steps, List<OpResult> results) {
		long czxid = BUSY;
		for (int i = 0; i < results.size(); i++) {
			if (results.get(i) instanceof OpResult.SetDataResult marked) {
				czxid = marked.getStat().getCzxid();
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

	/** What is missing where a step says so; a door that is gone is looked for again. */
	private static long missing(List<Op> steps, int step) {
		if (steps.get(step).getType() == ZooDefs.OpCode.create) {
			return NO_PARENT;
		}
		return (step == steps.size() - 1) ? NO_PLACE : BUSY;
	}

	/** Waits for the answer to a command that may have put up a door. */
	private long granted(CompletableFuture<Long> sent) {
		try {
			return this.await.result(sent);
		}
		catch (LockProviderException ex) {
			this.leftovers.abandoned(this.key, this.owner, this.session, this.path, sent);
			throw ex;
		}
	}

	private @Nullable Door door(long czxid) {
		return (czxid > 0) ? new Door(this.key, this.path, this.owner, this.session, czxid, this.lease) : null;
	}

}
