package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.LockTimer;

/**
 * Heartbeat of a session: a write to the process node at 0.3 of the session's time-out.
 * Each answer moves the session's deadline to one time-out after the answered write
 * <em>before</em> was sent.
 * <p>
 * The first answer counts from a moment at which the client was not connected, because
 * the leader has heard of the session since. If no such moment is known, it counts from
 * two thirds of the time-out before the first write: the client is never silent for a
 * third of the time-out.
 */
final class Heartbeat {

	private static final Log logger = LogFactory.getLog(Heartbeat.class);

	private final Session session;

	private final ProcessNode processNode;

	private final LockTimer timer;

	private final long intervalNanos;

	private final ReentrantLock lock = new ReentrantLock();

	private boolean underWay;

	/** A moment after which the leader has heard of the session, if one is known. */
	private @Nullable Long heardAfterNanos;

	/** When the answered write was sent that the next answer proves. */
	private @Nullable Long candidateNanos;

	private @Nullable Future<?> pending;

	/**
	 * Creates a heartbeat that has not begun.
	 * @param heardAfterNanos a moment at which the client was not connected, or
	 * {@code null}
	 */
	Heartbeat(Session session, ProcessNode processNode, @Nullable Long heardAfterNanos, LockTimer timer) {
		this.heardAfterNanos = heardAfterNanos;
		this.session = session;
		this.processNode = processNode;
		this.timer = timer;
		this.intervalNanos = session.timeoutNanos() * 3 / 10;
	}

	/** Sends a write, unless one is under way, and schedules the next. */
	void send() {
		long sentAtNanos;
		this.lock.lock();
		try {
			if (this.underWay || this.session.hasEnded()) {
				return;
			}
			this.underWay = true;
			sentAtNanos = System.nanoTime();
		}
		finally {
			this.lock.unlock();
		}
		this.processNode.write().whenComplete((stat, failure) -> complete(sentAtNanos, stat, failure));
	}

	private void complete(long sentAtNanos, @Nullable Stat stat, @Nullable Throwable failure) {
		if (stat == null) {
			logger.debug("A heartbeat was not answered", failure);
			if (ZooKeeperErrors.is(failure, Code.NONODE)) {
				this.processNode.create();
			}
		}
		else {
			this.session.confirm(provenNanos(sentAtNanos), stat.getMtime());
		}
		this.lock.lock();
		try {
			this.underWay = false;
			schedule();
		}
		finally {
			this.lock.unlock();
		}
		if (stat != null) {
			this.processNode.written();
		}
	}

	private long provenNanos(long sentAtNanos) {
		this.lock.lock();
		try {
			Long before = this.candidateNanos;
			boolean due = before == null || sentAtNanos - before >= this.intervalNanos * 9 / 10;
			if (due) {
				this.candidateNanos = sentAtNanos;
			}
			if (due && before != null) {
				this.heardAfterNanos = before;
			}
			Long known = this.heardAfterNanos;
			if (known == null) {
				known = sentAtNanos - this.session.timeoutNanos() * 2 / 3;
				this.heardAfterNanos = known;
			}
			return known;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void schedule() {
		if (this.pending != null) {
			this.pending.cancel(false);
		}
		if (this.session.hasEnded()) {
			return;
		}
		long now = System.nanoTime();
		Long before = this.candidateNanos;
		long shortest = this.intervalNanos / 10;
		long delay = (before != null) ? Math.max(before + this.intervalNanos - now, shortest) : shortest;
		try {
			this.pending = this.timer.schedule(this::send, Duration.ofNanos(delay));
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The timer is closed: no heartbeat follows", ex);
		}
	}

	/** The process node that a heartbeat writes to; no method blocks. */
	interface ProcessNode {

		/** Sends a write to the node. */
		CompletableFuture<Stat> write();

		/** Creates the node again after it was found missing. */
		void create();

		/** Receives each answered write, after the session's deadline was moved. */
		void written();

	}

}
