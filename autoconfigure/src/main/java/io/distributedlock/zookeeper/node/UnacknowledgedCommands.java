package io.distributedlock.zookeeper.node;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.DeadlineTimer;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.zookeeper.session.LockNodeState;
import io.distributedlock.zookeeper.session.LockPath;
import io.distributedlock.zookeeper.session.Session;
import io.distributedlock.zookeeper.session.ZNode;
import io.distributedlock.zookeeper.session.ZooKeeperErrors;
import io.distributedlock.zookeeper.session.ZooKeeperOperations;

/**
 * Acquires and releases that were sent and whose effect is not known yet. While the
 * connection lasts, their answers still arrive. After a lost connection the lock node is
 * read behind a {@code sync}, and released if it is that of the undecided command. The
 * commands of a session that has ended are decided: ZooKeeper has deleted its nodes.
 */
public final class UnacknowledgedCommands {

	private static final Log logger = LogFactory.getLog(UnacknowledgedCommands.class);

	/** Commands that are due within this time share one {@code sync}. */
	private static final Duration TOGETHER = Duration.ofMillis(100);

	static final int MAX_RELEASED = 10_000;

	/** The commands by lock, which has rarely more than one. */
	private final ConcurrentHashMap<LockKey, List<SentCommand>> commands = new ConcurrentHashMap<>();

	/**
	 * The last owners whose release was confirmed after its call had ended, each until
	 * its next call: one that was dropped counts as not held.
	 */
	private final Set<OwnerId> released = lastOwners();

	private final LockNodeRegistry lockNodes;

	private final ReleaseOperations releases;

	private final DeadlineTimer alarm;

	public UnacknowledgedCommands(LockNodeRegistry lockNodes, ReleaseOperations releases, LockTimer timer) {
		this.lockNodes = lockNodes;
		this.releases = releases;
		this.alarm = new DeadlineTimer(timer, () -> retryDue(true));
	}

	/** Returns a set that drops the owner that was added first where it is full. */
	static Set<OwnerId> lastOwners() {
		return Collections.synchronizedSet(Collections.newSetFromMap(new LinkedHashMap<OwnerId, Boolean>() {

			@Override
			protected boolean removeEldestEntry(Map.Entry<OwnerId, Boolean> eldest) {
				return size() > MAX_RELEASED;
			}

		}));
	}

	/** Releases a lock node that no caller waits for; returns what addRelease does. */
	public CompletableFuture<ReleaseOutcome> release(LockNode node) {
		// Added before it is sent: whoever looks for the lock node meanwhile finds it.
		return addRelease(node, () -> this.releases.release(node));
	}

	/**
	 * Adds a release.
	 * @param sent sends the release, or returns one that was sent before; completes with
	 * whether the lock node existed
	 * @return completes with the outcome, at once with {@link ReleaseOutcome#UNKNOWN} if
	 * the servers refuse the release; does not fail
	 */
	public CompletableFuture<ReleaseOutcome> addRelease(LockNode node, Supplier<CompletableFuture<Boolean>> sent) {
		SentCommand command = SentCommand.ofRelease(node);
		add(command);
		sent.get().whenComplete((existed, failure) -> {
			if (failure != null) {
				retryLater(command, failure);
			}
			else {
				complete(command, existed ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD);
			}
		});
		return command.answer();
	}

	/**
	 * Begins a command for whose answer the current thread will wait, and which that
	 * thread has to end.
	 * @return {@code false} if another command for the same lock is undecided
	 */
	public boolean tryBegin(SentCommand command) {
		command.recordAwaited(true);
		return this.commands.putIfAbsent(command.key(), List.of(command)) == null;
	}

	/** Ends a command whose answer says what it has done. */
	public void end(SentCommand command, ReleaseOutcome outcome) {
		if (remove(command)) {
			command.answer().complete(outcome);
		}
	}

	/** Ends an acquire that has failed, or decides it later. */
	public void endAcquire(SentCommand command, Throwable failure) {
		if (ZooKeeperErrors.isUnclear(failure)) {
			retryLater(command, failure);
		}
		else {
			end(command, ReleaseOutcome.NOT_HELD);
		}
	}

	/** Decides a command by a read, because no thread waits for its answer any more. */
	public void decide(SentCommand command) {
		command.recordAwaited(false);
		read(command.session(), List.of(command));
	}

	private void add(SentCommand command) {
		this.commands.compute(command.key(), (key, present) -> {
			List<SentCommand> all = (present != null) ? new ArrayList<>(present) : new ArrayList<>(1);
			all.add(command);
			return all;
		});
	}

	/** Returns {@code false} if the command was removed before. */
	private boolean remove(SentCommand command) {
		if (this.commands.remove(command.key(), List.of(command))) {
			return true;
		}
		AtomicBoolean removed = new AtomicBoolean();
		this.commands.computeIfPresent(command.key(), (key, present) -> {
			List<SentCommand> others = new ArrayList<>(present);
			removed.setPlain(others.remove(command));
			return others.isEmpty() ? null : others;
		});
		return removed.getPlain();
	}

	/**
	 * Claims a lock node for a command.
	 * @return {@code false} if the lock node belongs to another command
	 */
	private boolean claim(SentCommand command, long czxid) {
		AtomicBoolean claimed = new AtomicBoolean();
		this.commands.compute(command.key(), (key, present) -> {
			claimed.setPlain(command.claim(czxid, (present != null) ? present : List.of()));
			return present;
		});
		return claimed.getPlain();
	}

	private List<SentCommand> all(LockKey key) {
		return this.commands.getOrDefault(key, List.of());
	}

	private void forEach(Consumer<SentCommand> action) {
		this.commands.values().forEach((present) -> present.forEach(action));
	}

	/** Returns whether a thread waits for the answer to a command for a lock. */
	private boolean isAwaited(LockKey key) {
		return all(key).stream().anyMatch(SentCommand::isAwaited);
	}

	/**
	 * Adds an acquire that no caller waits for; a lock node that it creates is released.
	 * @param sent completes with the {@code czxid} of the created lock node, or at most 0
	 */
	void addAcquire(NodeAttempt attempt, CompletableFuture<Long> sent) {
		SentCommand command = SentCommand.ofAcquire(attempt);
		add(command);
		boolean answeredBefore = sent.isDone();
		sent.whenComplete((czxid, failure) -> {
			if (failure != null) {
				endAcquire(command, failure);
			}
			else if (czxid > 0) {
				created(command, czxid, answeredBefore);
			}
			else {
				end(command, ReleaseOutcome.NOT_HELD);
			}
		});
	}

	/**
	 * Releases the lock node of an acquire whose answer came too late. If the answer came
	 * before the command was added, another command may have released the lock node,
	 * which has to be read first.
	 */
	private void created(SentCommand command, long czxid, boolean answeredBefore) {
		command.recordNode(czxid);
		if (claim(command, czxid) && !answeredBefore) {
			release(command);
		}
		else {
			this.alarm.setAt(command.postpone());
		}
	}

	/**
	 * Returns the answer to an undecided command of an owner, or {@code null} if none is
	 * undecided. It may be done: {@link ReleaseOutcome#UNKNOWN} if the servers refuse the
	 * release.
	 */
	public @Nullable CompletableFuture<ReleaseOutcome> find(LockKey key, OwnerId owner) {
		return answer(all(key).stream().filter((command) -> command.owner().equals(owner)));
	}

	/**
	 * Returns the answer to a command that is undecided for a lock, as
	 * {@link #find(LockKey, OwnerId)} does, or {@code null}.
	 */
	public @Nullable CompletableFuture<ReleaseOutcome> find(LockKey key) {
		return answer(all(key).stream());
	}

	private static @Nullable CompletableFuture<ReleaseOutcome> answer(Stream<SentCommand> commands) {
		return commands.findFirst().map(SentCommand::answer).orElse(null);
	}

	/**
	 * Returns and forgets what is known of an owner whose commands are decided.
	 */
	public ReleaseOutcome pollOutcome(OwnerId owner) {
		return this.released.remove(owner) ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD;
	}

	public int size() {
		return this.commands.values().stream().mapToInt(List::size).sum();
	}

	/** Completes the commands of a session that has ended. */
	public void completeAll(Session session) {
		forEach((command) -> {
			if (command.session() == session) {
				complete(command, command.outcomeAfterSession());
			}
		});
	}

	private void complete(SentCommand command, ReleaseOutcome outcome) {
		if (outcome == ReleaseOutcome.RELEASED) {
			this.released.add(command.owner());
		}
		end(command, outcome);
	}

	/** Decides a command by a read later, because its answer was lost. */
	public void retryLater(SentCommand command, Throwable failure) {
		command.recordAwaited(false);
		if (command.session().hasEnded() || ZooKeeperErrors.isSessionOver(failure)) {
			logger.debug("The session has ended in which a command for '" + command.key() + "' was sent", failure);
			complete(command, command.outcomeAfterSession());
			return;
		}
		logger.debug("It is not known yet whether a lock node of '" + command.key() + "' exists", failure);
		this.alarm.setAt(command.postpone());
		if (ZooKeeperErrors.isRefusal(failure) && command.answer().complete(ReleaseOutcome.UNKNOWN)) {
			logger.warn("Lock '" + command.key() + "' is not released. The release is tried again until it succeeds or"
					+ " the session ends. " + ZooKeeperErrors.translate(failure).getMessage());
		}
	}

	/** Retries the commands of a session whose connection is back. */
	public void retry(Session session) {
		List<SentCommand> due = new ArrayList<>();
		forEach((command) -> {
			if (command.session() == session) {
				command.resetPauses();
				if (!isAwaited(command.key()) && command.begin()) {
					due.add(command);
				}
			}
		});
		read(session, due);
	}

	/**
	 * Retries the commands that are due now or soon, and sets the next alarm.
	 * @param alone whether no other provider uses the session: else an acquire whose lock
	 * node is not known is not decided
	 */
	public void retryDue(boolean alone) {
		Deadline soon = Deadline.after(TOGETHER);
		Map<Session, List<SentCommand>> due = new HashMap<>();
		forEach((command) -> {
			Deadline next = command.due();
			if (next == null) {
				return;
			}
			if (soon.isBefore(next)) {
				this.alarm.setAt(next);
			}
			else if (!command.session().isConnected() || (!alone && command.czxid() == 0) || isAwaited(command.key())) {
				this.alarm.setAt(command.postpone(next));
			}
			else if (command.begin()) {
				due.computeIfAbsent(command.session(), (session) -> new ArrayList<>()).add(command);
			}
		});
		due.forEach(this::read);
	}

	/** Reads the lock nodes of several commands behind one {@code sync}. */
	private void read(Session session, List<SentCommand> due) {
		if (due.isEmpty()) {
			return;
		}
		ZooKeeperOperations operations = session.operations();
		CompletableFuture<Boolean> synced = operations.sync("/");
		for (SentCommand command : due) {
			synced.thenCombine(read(operations, command), (ready, node) -> node)
				.whenComplete((node, failure) -> decide(command, node, failure));
		}
	}

	/**
	 * Reads the lock node of a command. Where it was a share, an unanswered release may
	 * have reserved the lock.
	 */
	private CompletableFuture<ZNode> read(ZooKeeperOperations operations, SentCommand command) {
		LockPath path = command.attempt().path();
		CompletableFuture<ZNode> read = operations.read(path.lockNode(), null);
		return !path.isShare() ? read : ZooKeeperOperations.recover(read, Code.NONODE,
				() -> operations.read(path.exclusive().lockNode(), null).thenCompose((present) -> {
					if (present.isOwnedBy(command.session().id()) && present.isIn(LockNodeState.RESERVED)) {
						this.releases.addReservation(command.lockNode().reservation(present.stat()),
								ReleaseOperations.GRACE);
					}
					return read;
				}));
	}

	private void decide(SentCommand command, @Nullable ZNode read, @Nullable Throwable failure) {
		if (read == null) {
			if (ZooKeeperErrors.is(failure, Code.NONODE)) {
				complete(command, command.outcomeWithoutNode());
			}
			else if (failure != null) {
				retryLater(command, failure);
			}
			return;
		}
		boolean known = command.czxid() != 0;
		boolean own = isOwn(command, read);
		boolean claimed = own && claim(command, read.stat().getCzxid());
		if (!own || !(claimed || known)) {
			complete(command, command.outcomeWithoutNode());
		}
		else if (!claimed) {
			// Another command is about to release the lock node.
			this.alarm.setAt(command.postpone());
		}
		else if (read.isIn(LockNodeState.RESERVED)) {
			this.releases.addReservation(command.lockNode(), Duration.ZERO);
			complete(command, ReleaseOutcome.RELEASED);
		}
		else {
			release(command);
		}
	}

	/**
	 * Returns whether a lock node can be that of a command. A lock node whose
	 * {@code czxid} is not known to any attempt of this process was created by an acquire
	 * without an answer, and is not reserved.
	 */
	private boolean isOwn(SentCommand command, ZNode read) {
		if (!read.isOwnedBy(command.session().id())) {
			return false;
		}
		if (command.czxid() != 0) {
			return read.stat().getCzxid() == command.czxid();
		}
		return (read.isIn(LockNodeState.HELD) || read.isIn(LockNodeState.CONTENDED))
				&& !this.lockNodes.contains(command.key(), read);
	}

	private void release(SentCommand command) {
		this.releases.release(command.lockNode()).whenComplete((existed, failure) -> {
			if (failure == null) {
				complete(command, ReleaseOutcome.RELEASED);
			}
			else {
				retryLater(command, failure);
			}
		});
	}

}
