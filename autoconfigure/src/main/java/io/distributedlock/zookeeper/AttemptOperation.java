package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockHolder;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.zookeeper.node.AcquireOperation;
import io.distributedlock.zookeeper.node.AttemptAnswer;
import io.distributedlock.zookeeper.node.LockNode;
import io.distributedlock.zookeeper.node.LockNodeRegistry;
import io.distributedlock.zookeeper.node.NodeAttempt;
import io.distributedlock.zookeeper.node.QueueNode;
import io.distributedlock.zookeeper.session.CallDeadline;
import io.distributedlock.zookeeper.session.LockNodeState;
import io.distributedlock.zookeeper.session.LockPath;
import io.distributedlock.zookeeper.session.NodePaths;
import io.distributedlock.zookeeper.session.Session;
import io.distributedlock.zookeeper.session.SessionTracker;
import io.distributedlock.zookeeper.session.ZNode;
import io.distributedlock.zookeeper.session.ZooKeeperErrors;

/**
 * One attempt of a contender, from the wait for a session to the end of its call. An
 * attempt at a free lock costs one request. Each step continues the one before, on the
 * thread that has ended it.
 */
final class AttemptOperation {

	private static final Log logger = LogFactory.getLog(AttemptOperation.class);

	private final ZooKeeperContext components;

	private final ContenderId contention;

	private final OwnerId owner;

	private final Duration lease;

	private final boolean willWait;

	private final CompletableStoreCall<AttemptResult> call = new CompletableStoreCall<>();

	private final CallDeadline deadline;

	/** The attempt whose session counts the bytes of the lock node's path. */
	private @Nullable NodeAttempt allocated;

	/**
	 * Creates an attempt that has not begun.
	 * @param lease how long a grant lasts if it is not renewed
	 * @param willWait whether the process joins the wait queue if the lock is busy
	 */
	AttemptOperation(ZooKeeperContext components, ContenderId contention, OwnerId owner, Duration lease,
			boolean willWait, Duration timeout) {
		this.components = components;
		this.contention = contention;
		this.owner = owner;
		this.lease = lease;
		this.willWait = willWait;
		this.deadline = new CallDeadline(this.call, timeout, components.timer());
	}

	StoreCall<AttemptResult> begin() {
		this.call.recordSent(false);
		return beginAfterLostAnswer();
	}

	/**
	 * Begins an attempt whose first command was sent and is undecided: it goes on once
	 * that is decided.
	 */
	StoreCall<AttemptResult> beginAfterLostAnswer() {
		Session present = this.components.sessions().present();
		if (present != null) {
			begin(present);
		}
		else {
			awaitSession();
		}
		return this.call;
	}

	/** Begins an attempt whose first command was refused, because the lock is busy. */
	StoreCall<AttemptResult> beginRefused(NodeAttempt attempt) {
		this.deadline.begin(attempt.session());
		guard(() -> {
			if (allocate(attempt)) {
				await(attempt, contendWithoutEntry(attempt, operation(attempt), true));
			}
		});
		return this.call;
	}

	private void awaitSession() {
		SessionTracker sessions = this.components.sessions();
		CompletableFuture<Session> ready = sessions.ready();
		this.deadline.awaitBefore(ready, sessions::notReady).whenComplete((session, failure) -> {
			ready.cancel(false);
			if (failure != null) {
				fail(failure);
			}
			else {
				begin(session);
			}
		});
	}

	private void begin(Session session) {
		try {
			LockNode held = this.components.lockNodes().find(this.contention.key(), this.owner);
			if (held != null) {
				this.call.recordSent(true);
				this.call.complete(new AttemptResult.Granted(held.grant()));
				return;
			}
			this.components.shortLeaseWarning().check(this.lease, session.grantedTimeoutNanos());
			this.deadline.begin(session);
			LockPath path = this.contention.path();
			contend(new NodeAttempt(this.contention.key(), this.contention.isShare() ? path.ofShare(this.owner) : path,
					this.owner, session));
		}
		catch (RuntimeException ex) {
			fail(ex);
		}
	}

	/** Contends for the lock once no earlier command for it is undecided. */
	private void contend(NodeAttempt attempt) {
		if (attempt.session().hasEnded()) {
			fail(ended(attempt.session()));
			return;
		}
		CompletableFuture<ReleaseOutcome> decided = this.components.undecided().find(attempt.key());
		if (decided == null) {
			allocateAndSend(attempt);
			return;
		}
		this.deadline.awaitBefore(decided, AttemptOperation::undecided).whenComplete((outcome, failure) -> {
			if (failure != null) {
				fail(failure);
			}
			else if (outcome == ReleaseOutcome.UNKNOWN && this.components.undecided().find(attempt.key()) == decided) {
				fail(LockProviderException.nothingSent(LockError.NOT_PERMITTED, ZooKeeperErrors.PROVIDER,
						"refuses this client a permission to release an earlier lock of the same key (DELETE on '"
								+ NodePaths.parent(attempt.path().lockNode()) + "')",
						null));
			}
			else {
				contend(attempt);
			}
		});
	}

	private static LockException ended(Session session) {
		if (session.isRefused()) {
			return ZooKeeperErrors.credentialsRefused();
		}
		return LockProviderException.nothingSent(LockError.STORE_FAILED, ZooKeeperErrors.PROVIDER,
				"has ended the session of this process", null);
	}

	private static LockException undecided() {
		return LockProviderException.nothingSent(LockError.STORE_TIMEOUT, ZooKeeperErrors.PROVIDER,
				"has not yet answered whether an earlier command for the same lock took effect", null);
	}

	static LockProviderException sessionFull() {
		return LockProviderException.nothingSent(LockError.SESSION_FULL, ZooKeeperErrors.PROVIDER,
				"cannot hold more locks in this process's session: their paths together are longer than "
						+ Session.MAX_PATH_BYTES + " bytes",
				null);
	}

	private boolean allocate(NodeAttempt attempt) {
		if (!attempt.session().tryAllocate(attempt.path().lockNodeLength())) {
			fail(sessionFull());
			return false;
		}
		this.allocated = attempt;
		return true;
	}

	private AcquireOperation operation(NodeAttempt attempt) {
		return new AcquireOperation(attempt, this.components.undecided(), this.components.sessions().persistentNodes(),
				this.deadline);
	}

	private void allocateAndSend(NodeAttempt attempt) {
		if (!allocate(attempt)) {
			return;
		}
		AcquireOperation operation = operation(attempt);
		QueueNode entry = this.components.queueEntries().find(this.contention, attempt.session());
		if (entry != null) {
			await(attempt,
					this.components.queueEntries()
						.use(entry, this.deadline, () -> attemptFrom(entry, operation, false),
								() -> contendWithoutEntry(attempt, operation, false)));
		}
		else if (this.contention.isShare() || (this.willWait && hasReserved(attempt))) {
			await(attempt, contendWithoutEntry(attempt, operation, this.willWait && hasReserved(attempt)));
		}
		else {
			operation.create((czxid, failure) -> guard(() -> created(attempt, operation, czxid, failure)));
		}
	}

	private boolean hasReserved(NodeAttempt attempt) {
		return this.components.releases().hasReserved(attempt.key());
	}

	private void await(NodeAttempt attempt, CompletableFuture<AttemptAnswer> answered) {
		answered.whenComplete((answer, failure) -> guard(() -> end(attempt, answer, failure)));
	}

	/** Ends the attempt with its first answer, or contends for a busy lock. */
	private void created(NodeAttempt attempt, AcquireOperation operation, @Nullable Long czxid,
			@Nullable Throwable failure) {
		if (czxid == null) {
			fail(Objects.requireNonNull(failure));
		}
		else if (czxid > 0) {
			granted(new LockNode(attempt, czxid, null, this.lease));
		}
		else {
			await(attempt, contendWithoutEntry(attempt, operation, true));
		}
	}

	/**
	 * Contends for a lock in whose queue this process has no entry. A contender that
	 * waits gets one; any other contends from an entry that no queue will have.
	 * @param refused whether an attempt without an entry was refused just before, or
	 * would be, because this process has reserved the lock
	 */
	private CompletableFuture<AttemptAnswer> contendWithoutEntry(NodeAttempt attempt, AcquireOperation operation,
			boolean refused) {
		Session session = attempt.session();
		if (!this.willWait) {
			return attemptFrom(
					new QueueNode(attempt.key(), this.contention.path(), this.contention.limit(), session, (event) -> {
						// Nothing is watched.
					}, this.contention.changed()), operation, refused);
		}
		QueueNode entry = this.components.queueEntries().getOrCreate(this.contention, session);
		if (entry == null) {
			return CompletableFuture.failedFuture(ended(session));
		}
		return this.components.queueEntries()
			.use(entry, this.deadline, () -> attemptFrom(entry, operation, refused),
					() -> contendWithoutEntry(attempt, operation, refused));
	}

	private CompletableFuture<AttemptAnswer> attemptFrom(QueueNode entry, AcquireOperation operation, boolean refused) {
		if (this.willWait) {
			entry.assign(this.contention.number(), this.contention.changed());
		}
		return new WaitQueueOperations(entry, this.components.sessions().persistentNodes(), this.deadline,
				this.components.releases().hasReserved(entry.key()))
			.attempt(operation, this.willWait, refused)
			.thenApply((answer) -> {
				if (answer.czxid() > 0) {
					// A grant uses the place up; most have deleted it themselves.
					this.components.queueEntries().deleteNode(entry);
				}
				return answer;
			});
	}

	private void end(NodeAttempt attempt, @Nullable AttemptAnswer answer, @Nullable Throwable failure) {
		if (answer == null) {
			fail(Objects.requireNonNull(failure));
		}
		else if (answer.czxid() > 0) {
			granted(new LockNode(attempt, answer.czxid(), answer.othersUntil(), this.lease));
		}
		else {
			busy(attempt.session(), answer);
		}
	}

	/**
	 * Ends the call with a grant, which is released if nobody waits for it any more, or
	 * if the answer came so late that its session may not last.
	 */
	private void granted(LockNode node) {
		LockException failure = add(node, this.components);
		if (failure != null) {
			fail(failure);
			return;
		}
		this.allocated = null;
		LockNodeRegistry lockNodes = this.components.lockNodes();
		if (!this.call.complete(new AttemptResult.Granted(node.grant())) && lockNodes.beginRelease(node)) {
			this.components.undecided().release(node);
			lockNodes.remove(node);
		}
	}

	/**
	 * Adds a lock node that was created, or releases it if its session may not last.
	 * @return the failure of the attempt, or {@code null}
	 */
	static @Nullable LockException add(LockNode node, ZooKeeperContext components) {
		if (!node.session().isValid() || !components.lockNodes().add(node)) {
			// A session that only this process has given up would keep the lock node.
			components.undecided().release(node);
			return node.session().hasEnded() ? ended(node.session()) : components.sessions().notReady();
		}
		components.releases().recordGrant(node);
		return null;
	}

	private void busy(Session session, AttemptAnswer answer) {
		free();
		ZNode present = answer.present();
		if (present == null || present.isIn(LockNodeState.RESERVED)) {
			this.call.complete(new AttemptResult.Busy(answer.retryAfter(), null));
			return;
		}
		LockHolderResolver holders = this.components.holders();
		CompletableFuture<Optional<LockHolder>> resolved = present.isContainer()
				? holders.resolveShare(this.contention.path().lockNode(), session, this.deadline)
				: holders.resolve(present, session, this.deadline).thenApply(Optional::of);
		resolved.thenAccept(
				(holder) -> this.call.complete(new AttemptResult.Busy(answer.retryAfter(), holder.orElse(null))));
	}

	/** Runs a last step, whose failure nothing else would report. */
	private void guard(Runnable step) {
		try {
			step.run();
		}
		catch (RuntimeException ex) {
			logger.error("An attempt to acquire lock '" + this.contention.key() + "' failed unexpectedly", ex);
			fail(ex);
		}
	}

	private void fail(Throwable failure) {
		free();
		this.call.fail(ZooKeeperErrors.failureOf(failure));
	}

	/** Frees the bytes of a lock node that was not created. */
	private void free() {
		if (this.allocated != null) {
			this.allocated.session().free(this.allocated.path().lockNodeLength());
			this.allocated = null;
		}
	}

}
