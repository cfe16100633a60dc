package io.distributedlock.zookeeper;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.time.Duration;

import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockException;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.CallWatchdog;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.zookeeper.node.LockNode;
import io.distributedlock.zookeeper.node.NodeAttempt;
import io.distributedlock.zookeeper.node.SentCommand;
import io.distributedlock.zookeeper.session.Session;
import io.distributedlock.zookeeper.session.ZooKeeperErrors;
import io.distributedlock.zookeeper.session.ZooKeeperOperations;

/**
 * The two requests of a lock for which no process waits, sent by the thread that waits
 * for their answers: the first {@code create} of an attempt, and the {@code delete} of a
 * release. ZooKeeper's client hands the answer to a blocked thread directly; any other
 * answer takes the way over its event thread.
 * <p>
 * Everything else is asynchronous: what follows a refusal, and what begins on a virtual
 * thread, which the monitor of the client may pin. An answer here may overtake others on
 * the event thread, so that no thread waits for a command while another one for the same
 * lock is undecided, and the other way round: the command is registered among the
 * undecided ones before it is sent.
 */
final class FreeLockCalls {

	/** {@code Thread.isVirtual()}, or {@code null} before Java 21. */
	private static final @Nullable MethodHandle IS_VIRTUAL = findIsVirtual();

	private final ZooKeeperContext components;

	private final ReleaseCalls releaseCalls;

	private final CallWatchdog watchdog;

	FreeLockCalls(ZooKeeperContext components, ReleaseCalls releaseCalls) {
		this.components = components;
		this.releaseCalls = releaseCalls;
		// An interrupt is quick: the timer's thread sends it.
		this.watchdog = new CallWatchdog(components.timer(), Runnable::run);
	}

	private static @Nullable MethodHandle findIsVirtual() {
		try {
			return MethodHandles.publicLookup()
				.findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
		}
		catch (ReflectiveOperationException ex) {
			return null;
		}
	}

	/** Returns whether the current thread may wait in a monitor, and would at all. */
	private static boolean mayBlock() {
		Thread current = Thread.currentThread();
		try {
			return !current.isInterrupted() && (IS_VIRTUAL == null || !(boolean) IS_VIRTUAL.invokeExact(current));
		}
		catch (Throwable ex) {
			throw new IllegalStateException("Thread.isVirtual() does not fail", ex);
		}
	}

	/**
	 * Returns the session if the current thread may block on it. A client with a time-out
	 * of its own for blocking calls would drop the connection that all calls share.
	 */
	private @Nullable Session sessionToBlockOn() {
		Session session = mayBlock() ? this.components.sessions().present() : null;
		return (session != null
				&& session.zooKeeper().getClientConfig().getLong(ZKClientConfig.ZOOKEEPER_REQUEST_TIMEOUT, 0) <= 0)
						? session : null;
	}

	/** Attempts to acquire a lock as {@link AttemptOperation} does. */
	StoreCall<AttemptResult> attempt(ContenderId contender, OwnerId owner, Duration lease, boolean willWait,
			Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		Session session = sessionToBlockOn();
		if (session != null && isFirst(contender, owner, session, willWait)) {
			SentCommand command = SentCommand
				.ofAcquire(new NodeAttempt(contender.key(), contender.path(), owner, session));
			if (this.components.undecided().tryBegin(command)) {
				return attempt(command, contender, lease, willWait, deadline);
			}
		}
		return new AttemptOperation(this.components, contender, owner, lease, willWait, timeout).begin();
	}

	/** Returns whether an attempt begins with the creation of the lock node. */
	private boolean isFirst(ContenderId contender, OwnerId owner, Session session, boolean willWait) {
		return !contender.isShare() && this.components.lockNodes().find(contender.key(), owner) == null
				&& this.components.queueEntries().find(contender, session) == null
				&& !(willWait && this.components.releases().hasReserved(contender.key()));
	}

	private StoreCall<AttemptResult> attempt(SentCommand command, ContenderId contender, Duration lease,
			boolean willWait, Deadline deadline) {
		NodeAttempt attempt = command.attempt();
		Session session = attempt.session();
		this.components.shortLeaseWarning().check(lease, session.grantedTimeoutNanos());
		if (!session.tryAllocate(attempt.path().lockNodeLength())) {
			this.components.undecided().end(command, ReleaseOutcome.NOT_HELD);
			return AnsweredStoreCall.failed(AttemptOperation.sessionFull());
		}
		Stat stat = new Stat();
		Code code = send(command, deadline, (operations) -> operations.createNow(attempt.path().lockNode(), stat));
		if (code == Code.OK) {
			return created(command, new LockNode(attempt, stat.getCzxid(), null, lease));
		}
		session.free(attempt.path().lockNodeLength());
		if (code == null && deadline.isPast()) {
			return AnsweredStoreCall.failed(ZooKeeperErrors.timedOut());
		}
		if (code != null && code != Code.NODEEXISTS && code != Code.NONODE) {
			KeeperException failure = ZooKeeperErrors.failure(code, OpCode.create, attempt.path().lockNode());
			this.components.undecided().endAcquire(command, failure);
			return AnsweredStoreCall.failed(ZooKeeperErrors.translate(failure));
		}
		AttemptOperation next = new AttemptOperation(this.components, contender, attempt.owner(), lease, willWait,
				deadline.remaining());
		if (code == null) {
			// The caller decides whether the interrupt ends its wait.
			return next.beginAfterLostAnswer();
		}
		this.components.undecided().end(command, ReleaseOutcome.NOT_HELD);
		return (code == Code.NODEEXISTS) ? next.beginRefused(attempt) : next.begin();
	}

	/**
	 * Adds the lock node before the command ends, for the command hides it from others.
	 */
	private StoreCall<AttemptResult> created(SentCommand command, LockNode node) {
		LockException failure = AttemptOperation.add(node, this.components);
		this.components.undecided().end(command, ReleaseOutcome.NOT_HELD);
		if (failure == null) {
			return AnsweredStoreCall.of(new AttemptResult.Granted(node.grant()));
		}
		node.session().free(node.path().lockNodeLength());
		return AnsweredStoreCall.failed(failure);
	}

	/** Releases a grant as {@link ReleaseCalls} do. */
	StoreCall<ReleaseOutcome> release(LockGrant grant, Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		Session session = sessionToBlockOn();
		LockNode node = (session != null) ? this.components.lockNodes().find(grant.key(), grant.owner()) : null;
		if (node == null || node.session() != session || node.isCreatedContended() || node.path().isShare()) {
			return this.releaseCalls.release(grant.key(), grant.owner(), timeout);
		}
		SentCommand command = SentCommand.ofRelease(node);
		if (!this.components.undecided().tryBegin(command)) {
			return this.releaseCalls.release(grant.key(), grant.owner(), timeout);
		}
		if (!this.components.lockNodes().beginRelease(node)) {
			this.components.undecided().end(command, ReleaseOutcome.NOT_HELD);
			return this.releaseCalls.release(grant.key(), grant.owner(), timeout);
		}
		Code code = send(command, deadline, (operations) -> operations.deleteNow(node.path().lockNode()));
		if (code == Code.BADVERSION) {
			this.components.undecided().end(command, ReleaseOutcome.UNKNOWN);
			return this.releaseCalls.reserve(node, deadline.remaining());
		}
		StoreCall<ReleaseOutcome> call;
		if (code == Code.OK || code == Code.NONODE) {
			ReleaseOutcome outcome = (code == Code.OK) ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD;
			this.components.undecided().end(command, outcome);
			call = AnsweredStoreCall.of(outcome);
		}
		else {
			KeeperException failure = (code != null)
					? ZooKeeperErrors.failure(code, OpCode.delete, node.path().lockNode()) : null;
			call = this.releaseCalls.awaitDecision(command, failure, deadline.remaining());
		}
		this.components.lockNodes().remove(node);
		return call;
	}

	/**
	 * Sends a command and waits for its answer, until the deadline or an interrupt of the
	 * current thread, which stays interrupted. Without an answer the command is undecided
	 * from then on.
	 * @return the code of the answer, or of a lost connection; {@code null} if there was
	 * none
	 */
	private @Nullable Code send(SentCommand command, Deadline deadline, Request request) {
		Session session = command.attempt().session();
		Deadline sentAt = Deadline.now();
		TimeoutInterrupt timeout = new TimeoutInterrupt();
		CallWatchdog.Call watched = this.watchdog.begin(deadline, false, timeout);
		Code code = null;
		boolean interrupted = false;
		try {
			request.send(session.operations());
			code = Code.OK;
		}
		catch (KeeperException ex) {
			code = ex.code();
		}
		catch (InterruptedException ex) {
			interrupted = true;
		}
		finally {
			boolean timedOut = timeout.end();
			watched.end();
			if (timedOut && !interrupted) {
				// The time-out's own interrupt came with the answer.
				Thread.interrupted();
			}
			else if (interrupted && !timedOut) {
				Thread.currentThread().interrupt();
			}
			if (code != null) {
				session.answered(code);
			}
			else {
				this.components.undecided().decide(command);
				if (timedOut) {
					session.callTimedOut(sentAt.nanos());
				}
			}
		}
		return code;
	}

	/** One request, which waits for its answer. */
	@FunctionalInterface
	private interface Request {

		void send(ZooKeeperOperations operations) throws KeeperException, InterruptedException;

	}

	/**
	 * Interrupt of a thread at the end of its time, which never comes after its wait.
	 * <p>
	 * A thread has one interrupt flag. If another thread interrupts it too, in the moment
	 * from this interrupt until it has ended its wait, the two are one: the call ends
	 * with its time-out, and that other interrupt is lost. Nothing tells them apart, as a
	 * thread does not count its interrupts; to keep the flag would interrupt the caller
	 * after each time-out. An interrupt before or after that moment is kept.
	 */
	private static final class TimeoutInterrupt implements Runnable {

		private @Nullable Thread waiting = Thread.currentThread();

		private boolean sent;

		/** An interrupt that the thread has already ends its wait as well. */
		@Override
		public synchronized void run() {
			if (this.waiting != null && !this.waiting.isInterrupted()) {
				this.waiting.interrupt();
				this.sent = true;
			}
		}

		/** Ends the wait, and returns whether it was interrupted here. */
		synchronized boolean end() {
			this.waiting = null;
			return this.sent;
		}

	}

}
