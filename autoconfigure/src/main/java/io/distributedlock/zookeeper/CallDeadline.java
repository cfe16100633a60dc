package io.distributedlock.zookeeper;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.Deadline;

/**
 * Deadline of all requests that one call of a provider sends in one session. A request
 * that is not answered in time is reported to the session.
 */
final class CallDeadline {

	private final Session session;

	private final long begunAtNanos = System.nanoTime();

	private final Deadline deadline;

	private final boolean renewal;

	/**
	 * Creates the deadline of an attempt, a release or a withdrawal.
	 * @param deadline the deadline of the call
	 */
	CallDeadline(Session session, Deadline deadline) {
		this(session, deadline, false);
	}

	private CallDeadline(Session session, Deadline deadline, boolean renewal) {
		this.session = session;
		this.deadline = deadline;
		this.renewal = renewal;
	}

	/**
	 * Creates the deadline of a renewal, after which a silent connection is dropped
	 * sooner, because leases depend on it.
	 */
	static CallDeadline ofRenewal(Session session, Deadline deadline) {
		return new CallDeadline(session, deadline, true);
	}

	long remainingNanos() {
		return this.deadline.remainingNanos();
	}

	/**
	 * Waits for an answer until the deadline or an interrupt.
	 * @throws LockProviderException if the answer is a failure or does not arrive
	 */
	<T> T await(CompletableFuture<T> answer) {
		try {
			return answer.get(remainingNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			throw ZooKeeperErrors.translate(ex);
		}
		catch (TimeoutException ex) {
			if (this.renewal) {
				this.session.renewalTimedOut(this.begunAtNanos);
			}
			else {
				this.session.callTimedOut(this.begunAtNanos);
			}
			throw ZooKeeperErrors.timedOut(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw ZooKeeperErrors.interrupted(ex);
		}
	}

	/**
	 * Waits for a node that may be missing.
	 * @return the node, or {@code null} if it does not exist
	 * @throws LockProviderException if the answer is another failure or does not arrive
	 */
	@Nullable ZNode awaitNode(CompletableFuture<ZNode> answer) {
		try {
			return await(answer);
		}
		catch (LockProviderException ex) {
			if (ZooKeeperErrors.is(ex.getCause(), Code.NONODE)) {
				return null;
			}
			throw ex;
		}
	}

}
