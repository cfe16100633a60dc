package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;

/**
 * Acquires and releases that were sent and whose effect is not known yet. While the
 * connection lasts, their answers still arrive. After a lost connection the lock node is
 * read behind a {@code sync}, and released if it is that of the undecided command. The
 * commands of a session that has ended are decided: ZooKeeper has deleted its nodes.
 */
final class UndecidedCommands {

	private static final Log logger = LogFactory.getLog(UndecidedCommands.class);

	private static final Duration RETRY_PAUSE = Duration.ofMillis(500);

	private static final int MAX_DOUBLINGS = 6;

	private final Set<Command> commands = ConcurrentHashMap.newKeySet();

	/** The owners whose release was confirmed after its call had ended. */
	private final ReleasedOwners released = new ReleasedOwners();

	private final LockNodeRegistry lockNodes;

	private final ReleaseOperation releaseOperation;

	private final LockTimer timer;

	UndecidedCommands(LockNodeRegistry lockNodes, ReleaseOperation releaseOperation, LockTimer timer) {
		this.lockNodes = lockNodes;
		this.releaseOperation = releaseOperation;
		this.timer = timer;
	}

	/** Releases a lock node that no caller waits for. */
	void release(LockNode node) {
		addRelease(node, this.releaseOperation.release(node));
	}

	/**
	 * Adds a release that was sent.
	 * @param sent completes with whether the lock node existed
	 * @return completes with the outcome; does not fail
	 */
	CompletableFuture<ReleaseOutcome> addRelease(LockNode node, CompletableFuture<Boolean> sent) {
		Command command = new Command(node.attempt(), node.czxid());
		this.commands.add(command);
		sent.whenComplete((existed, failure) -> {
			if (failure == null) {
				complete(command, existed ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD);
			}
			else {
				retryLater(command, failure);
			}
		});
		return command.end;
	}

	/**
	 * Adds an acquire that no caller waits for; a lock node that it creates is released.
	 * @param sent completes with the {@code czxid} of the created lock node, or at most 0
	 */
	void addAcquire(LockAttempt attempt, CompletableFuture<Long> sent) {
		Command command = new Command(attempt, 0);
		this.commands.add(command);
		sent.whenComplete((czxid, failure) -> {
			if (failure != null && !ZooKeeperErrors.isUnclear(failure)) {
				complete(command, ReleaseOutcome.NOT_HELD);
			}
			else if (failure != null) {
				retryLater(command, failure);
			}
			else if (czxid > 0) {
				release(command, czxid);
			}
			else {
				complete(command, ReleaseOutcome.NOT_HELD);
			}
		});
	}

	/**
	 * Returns the end of an undecided command of an owner, or {@code null}.
	 */
	@Nullable CompletableFuture<ReleaseOutcome> find(LockKey key, OwnerId owner) {
		for (Command command : this.commands) {
			if (command.attempt.owner().equals(owner) && command.attempt.key().equals(key)) {
				return command.end;
			}
		}
		return null;
	}

	/**
	 * Returns and forgets what is known of an owner whose commands are decided.
	 */
	ReleaseOutcome pollOutcome(OwnerId owner) {
		return this.released.remove(owner) ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD;
	}

	/**
	 * Returns the end of a command that is undecided for a lock, or {@code null}.
	 */
	@Nullable CompletableFuture<ReleaseOutcome> find(LockKey key) {
		if (!this.commands.isEmpty()) {
			for (Command command : this.commands) {
				if (command.attempt.key().equals(key)) {
					return command.end;
				}
			}
		}
		return null;
	}

	int size() {
		return this.commands.size();
	}

	/** Completes the commands of a session that has ended. */
	void completeAll(Session session) {
		for (Command command : this.commands) {
			if (command.session() == session) {
				complete(command, ReleaseOutcome.NOT_HELD);
			}
		}
	}

	private void complete(Command command, ReleaseOutcome outcome) {
		if (outcome == ReleaseOutcome.RELEASED) {
			this.released.add(command.attempt.owner());
		}
		if (this.commands.remove(command)) {
			command.end.complete(outcome);
		}
	}

	private void retryLater(Command command, Throwable failure) {
		if (command.session().hasEnded() || ZooKeeperErrors.isSessionOver(failure)) {
			// Unknown: the release or the end of the session may have been first.
			complete(command, ReleaseOutcome.NOT_HELD);
			return;
		}
		logger.debug("It is not known yet whether a lock node of '" + command.attempt.key() + "' exists", failure);
		command.due.set(true);
		retryLater(command);
	}

	private void retryLater(Command command) {
		Duration pause = RETRY_PAUSE.multipliedBy(1L << Math.min(command.tries.getAndIncrement(), MAX_DOUBLINGS));
		try {
			this.timer.schedule(() -> retry(command), pause);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The timer is closed: an undecided command ends with the session", ex);
		}
	}

	/** Retries the commands of a session whose connection is back. */
	void retry(Session session) {
		for (Command command : this.commands) {
			if (command.session() == session) {
				command.tries.set(0);
				retry(command);
			}
		}
	}

	private void retry(Command command) {
		if (!this.commands.contains(command) || !command.due.compareAndSet(true, false)) {
			return;
		}
		if (!command.session().isConnected()) {
			command.due.set(true);
			retryLater(command);
			return;
		}
		ZooKeeperOperations operations = command.session().operations();
		String path = command.attempt.path().lockNode();
		CompletableFuture<Boolean> synced = operations.sync(path);
		CompletableFuture<ZNode> read = operations.read(path, null);
		synced.thenCombine(read, (ready, node) -> node).whenComplete((node, failure) -> {
			if (node != null) {
				decide(command, node);
			}
			else if (ZooKeeperErrors.is(failure, Code.NONODE)) {
				complete(command, command.outcomeWithoutNode());
			}
			else if (failure != null) {
				retryLater(command, failure);
			}
		});
	}

	private void decide(Command command, ZNode read) {
		boolean reserved = read.isIn(LockNodeState.RESERVED);
		boolean own = read.isOwnedBy(command.session().id()) && ((command.czxid != 0)
				? read.stat().getCzxid() == command.czxid : isHeldButNotKnown(command, read));
		if (!own) {
			complete(command, command.outcomeWithoutNode());
		}
		else if (reserved) {
			this.releaseOperation.expireReservation(command.lockNode(read.stat().getCzxid()), Duration.ZERO);
			complete(command, ReleaseOutcome.RELEASED);
		}
		else {
			release(command, read.stat().getCzxid());
		}
	}

	/**
	 * Returns whether a lock node of the session can be that of an acquire: no other
	 * attempt has created it. Only one command may delete a lock node, because the next
	 * one could have the same version.
	 */
	private boolean isHeldButNotKnown(Command acquire, ZNode read) {
		if (read.isIn(LockNodeState.RESERVED) || this.lockNodes.contains(acquire.attempt.key(), read)) {
			return false;
		}
		for (Command command : this.commands) {
			if (command != acquire && command.czxid == read.stat().getCzxid()) {
				return false;
			}
		}
		return read.isIn(LockNodeState.HELD) || read.isIn(LockNodeState.CONTENDED);
	}

	private void release(Command command, long czxid) {
		this.releaseOperation.release(command.lockNode(czxid)).whenComplete((existed, failure) -> {
			if (failure == null) {
				complete(command, ReleaseOutcome.RELEASED);
			}
			else {
				retryLater(command, failure);
			}
		});
	}

	/** One command whose effect is not known. */
	private static final class Command {

		private final LockAttempt attempt;

		private final CompletableFuture<ReleaseOutcome> end = new CompletableFuture<>();

		/** The {@code czxid} of the lock node, or 0 while it is not known. */
		private volatile long czxid;

		/** Whether a retry is due and no request is under way. */
		private final AtomicBoolean due = new AtomicBoolean();

		private final AtomicInteger tries = new AtomicInteger();

		private Command(LockAttempt attempt, long czxid) {
			this.attempt = attempt;
			this.czxid = czxid;
		}

		private Session session() {
			return this.attempt.session();
		}

		private LockNode lockNode(long knownCzxid) {
			this.czxid = knownCzxid;
			return new LockNode(this.attempt, knownCzxid, Duration.ZERO);
		}

		/**
		 * Returns the outcome where the lock node is missing: a node that was known to
		 * belong to this command can only be missing because of its own release.
		 */
		private ReleaseOutcome outcomeWithoutNode() {
			return (this.czxid != 0) ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD;
		}

	}

}
