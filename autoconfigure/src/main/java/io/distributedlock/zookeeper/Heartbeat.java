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
 * The leader itself does not hear of a session by its writes, but by the reports of the
 * follower that the client is connected to, which follow each other by half a tick. So a
 * write proves the one before only if it was sent a quarter of the time-out after the
 * <em>answer</em> to that: a time-out is at least two ticks, and the follower has
 * reported in between.
 * <p>
 * The first answer counts from a moment at which the client was not connected, because
 * the leader has heard of the session since. If no such moment is known, or it is long
 * past, it counts from two thirds of the time-out before the first write: the client is
 * never silent for a third of the time-out.
 */
final class Heartbeat {

	private static final Log logger = LogFactory.getLog(Heartbeat.class);

	private final Session session;

	private final ProcessNode processNode;

	private final LockTimer timer;

	private final ReentrantLock lock = new ReentrantLock();

	private boolean underWay;

	private boolean closed;

	/** A moment after which the leader has heard of the session, if one is known. */
	private @Nullable Long heardAfterNanos;

	/** The answered write that a later one proves. */
	private @Nullable Write candidate;

	/** Whether a write has proved one before. */
	private boolean chained;

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
	}

	/** Sends a write, unless one is under way, and schedules the next. */
	void send() {
		long sentAtNanos;
		this.lock.lock();
		try {
			if (this.underWay || this.closed || this.session.hasEnded()) {
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
			Write before = this.candidate;
			if (before == null) {
				this.candidate = new Write(sentAtNanos, System.nanoTime());
			}
			else if (sentAtNanos - before.answeredAtNanos() >= reportNanos()) {
				this.candidate = new Write(sentAtNanos, System.nanoTime());
				this.heardAfterNanos = before.sentAtNanos();
				this.chained = true;
			}
			long known = (this.heardAfterNanos != null) ? this.heardAfterNanos
					: sentAtNanos - this.session.timeoutNanos();
			if (!this.chained) {
				long connected = sentAtNanos - this.session.timeoutNanos() * 2 / 3;
				known = (connected - known > 0) ? connected : known;
			}
			this.heardAfterNanos = known;
			return known;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Returns a time in which the follower has reported the session to the leader. */
	private long reportNanos() {
		return this.session.timeoutNanos() / 4;
	}

	private void schedule() {
		if (this.pending != null) {
			this.pending.cancel(false);
		}
		if (this.closed || this.session.hasEnded()) {
			return;
		}
		long now = System.nanoTime();
		long intervalNanos = this.session.timeoutNanos() * 3 / 10;
		long delay = intervalNanos / 10;
		Write before = this.candidate;
		if (before != null) {
			long reported = before.answeredAtNanos() + reportNanos() - now;
			long regular = before.sentAtNanos() + intervalNanos - now;
			delay = Math.max(delay, this.chained ? Math.max(reported, regular) : reported);
		}
		try {
			this.pending = this.timer.schedule(this::send, Duration.ofNanos(delay));
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The timer is closed: no heartbeat follows", ex);
		}
	}

	/** Ends the heartbeat; the session's deadline does not move again. */
	void close() {
		this.lock.lock();
		try {
			this.closed = true;
			schedule();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * An answered write.
	 */
	private record Write(long sentAtNanos, long answeredAtNanos) {
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
