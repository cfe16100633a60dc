package io.distributedlock.zookeeper;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProviderException;

/**
 * A caller's patience for what belongs together: waits for answers until one instant, or
 * until the thread is interrupted.
 */
final class Await {

	private final Session session;

	private final long begunAt = System.nanoTime();

	private final long deadline;

	private final boolean urgent;

	Await(Session session, long deadline) {
		this(session, deadline, false);
	}

	private Await(Session session, long deadline, boolean urgent) {
		this.session = session;
		this.deadline = deadline;
		this.urgent = urgent;
	}

	/** For what must not come too late: it is worth a connection that says nothing. */
	static Await urgent(Session session, long deadline) {
		return new Await(session, deadline, true);
	}

	long deadline() {
		return this.deadline;
	}

	/**
	 * Waits for an answer.
	 * @throws LockProviderException if there is none, or it is a failure
	 */
	<T> T result(CompletableFuture<T> answer) {
		try {
			return answer.get(this.deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			throw ZooKeeperErrors.translate(ex);
		}
		catch (TimeoutException ex) {
			this.session.unanswered(this.begunAt, this.urgent);
			throw ZooKeeperErrors.timedOut(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw ZooKeeperErrors.interrupted(ex);
		}
	}

	/** Waits for what was read of a node that may be missing. */
	@Nullable Node node(CompletableFuture<Node> answer) {
		try {
			return result(answer);
		}
		catch (LockProviderException ex) {
			if (ZooKeeperErrors.is(ex.getCause(), Code.NONODE)) {
				return null;
			}
			throw ex;
		}
	}

}
