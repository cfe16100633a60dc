package io.distributedlock.zookeeper;

import java.time.Duration;
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
 * Writes to the process's own node, at a little less than a third of the session's
 * time-out, and moves the session's deadline with each answer: to one time-out after the
 * answered write <em>before</em> was sent. Before the first write the session was
 * created, or its connection came back, after a moment at which there was none; where
 * that was not seen, the client, which is never silent for a third of the time-out, was
 * heard before.
 */
final class Heartbeat {

	private static final Log logger = LogFactory.getLog(Heartbeat.class);

	private final Session session;

	private final String path;

	private final byte[] label;

	private final LockTimer timer;

	private final Runnable missing;

	private final Runnable proved;

	private final long interval;

	private final ReentrantLock lock = new ReentrantLock();

	private boolean underWay;

	/** A moment after which the leader has heard of the session, if one is known. */
	private @Nullable Long heardAfter;

	/** When the answered write was sent that the next answer proves. */
	private @Nullable Long candidate;

	private @Nullable Future<?> pending;

	/**
	 * Creates a heartbeat that does not yet beat.
	 * @param path the node to be written to, which exists
	 * @param heardAfter a moment at which the client was not connected, if one is known
	 * @param missing puts the node up again, without blocking
	 * @param proved told of each answer, on the event thread
	 */
	Heartbeat(Session session, String path, byte[] label, @Nullable Long heardAfter, LockTimer timer, Runnable missing,
			Runnable proved) {
		this.heardAfter = heardAfter;
		this.session = session;
		this.path = path;
		this.label = label;
		this.timer = timer;
		this.missing = missing;
		this.proved = proved;
		this.interval = session.timeout() * 3 / 10;
	}

	/** Writes now, unless a write is under way. */
	void beat() {
		long sentAt;
		this.lock.lock();
		try {
			if (this.underWay || this.session.hasEnded()) {
				return;
			}
			this.underWay = true;
			sentAt = System.nanoTime();
		}
		finally {
			this.lock.unlock();
		}
		this.session.calls()
			.setData(this.path, this.label, -1)
			.whenComplete((stat, failure) -> answered(sentAt, stat, failure));
	}

	private void answered(long sentAt, @Nullable Stat stat, @Nullable Throwable failure) {
		if (stat == null) {
			logger.debug("A heartbeat was not answered", failure);
			if (ZooKeeperErrors.is(failure, Code.NONODE)) {
				this.missing.run();
			}
		}
		else {
			this.session.proved(base(sentAt), stat.getMtime());
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
			this.proved.run();
		}
	}

	private long base(long sentAt) {
		this.lock.lock();
		try {
			Long before = this.candidate;
			if (before == null || sentAt - before >= this.interval * 9 / 10) {
				this.candidate = sentAt;
			}
			if (before != null && sentAt - before >= this.interval * 9 / 10) {
				this.heardAfter = before;
			}
			Long known = this.heardAfter;
			if (known == null) {
				known = sentAt - this.session.timeout() * 2 / 3;
				this.heardAfter = known;
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
		Long before = this.candidate;
		long delay = (before != null) ? Math.max(before + this.interval - now, this.interval / 10) : this.interval / 10;
		try {
			this.pending = this.timer.schedule(this::beat, Duration.ofNanos(delay));
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The timer has ended with the application: no more heartbeats", ex);
		}
	}

}
