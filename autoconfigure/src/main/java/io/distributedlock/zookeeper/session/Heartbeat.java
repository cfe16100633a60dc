package io.distributedlock.zookeeper.session;

import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Collectors;

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
 * A new connection proves a session too: the leader confirms it. So an answered write
 * also proves an earlier one that was lost with a connection, because the client has
 * connected after that was sent. A moment at which the client was merely not connected
 * would prove less: the request to connect may have been under way.
 * <p>
 * The first answer counts from a moment before the session began. If no such moment is
 * known, or it is long past, it counts from two thirds of the time-out before the first
 * write: the client is never silent for a third of the time-out.
 * <p>
 * After a pause or an outage the proof is old. The next write is then sent as soon as it
 * proves something, and until its answer the session may not last. A write that was
 * answered late would be an old proof as well, so that another follows it at once.
 */
final class Heartbeat {

	private static final Log logger = LogFactory.getLog(Heartbeat.class);

	private final Session session;

	private final Supplier<CompletableFuture<Stat>> write;

	private final Runnable written;

	private final LockTimer timer;

	private final ReentrantLock lock = new ReentrantLock();

	private boolean underWay;

	private boolean closed;

	/** A moment after which the leader has heard of the session, if one is known. */
	private @Nullable Long heardAfterNanos;

	/** When the last write was sent that was lost with its connection. */
	private @Nullable Long lostNanos;

	/** When the last write was sent that has an answer, or was lost. */
	private @Nullable Long openNanos;

	/** The answered write that a later one proves. */
	private @Nullable Write candidate;

	/** Whether a write has proved one before. */
	private boolean chained;

	/** Whether the last answer came late, and the one before in time. */
	private boolean late;

	private @Nullable Runnable pending;

	private @Nullable Runnable alarm;

	/** The client's thread on which answers arrive, once one has. */
	private @Nullable Thread eventThread;

	/**
	 * Creates a heartbeat that has not begun.
	 * @param write sends a write to the process node; must not block
	 * @param written runs after each answered write has moved the session's deadline;
	 * must not block
	 * @param heardAfterNanos a moment before the session began, or {@code null}
	 */
	Heartbeat(Session session, Supplier<CompletableFuture<Stat>> write, Runnable written,
			@Nullable Long heardAfterNanos, LockTimer timer) {
		this.heardAfterNanos = heardAfterNanos;
		this.session = session;
		this.write = write;
		this.written = written;
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
			this.alarm = this.timer.scheduleIfOpen(this::warnOfCallback, reportNanos());
		}
		finally {
			this.lock.unlock();
		}
		this.write.get().whenComplete((stat, failure) -> complete(sentAtNanos, stat, failure));
	}

	private void complete(long sentAtNanos, @Nullable Stat stat, @Nullable Throwable failure) {
		if (stat == null) {
			logger.debug("A heartbeat was not answered", failure);
		}
		this.lock.lock();
		try {
			this.underWay = false;
			this.eventThread = Thread.currentThread();
			if (this.alarm != null) {
				this.alarm.run();
			}
			if (stat != null) {
				this.openNanos = sentAtNanos;
				this.session.confirm(provenNanos(sentAtNanos), stat.getMtime());
			}
			else {
				this.late = false;
				if (ZooKeeperErrors.is(failure, Code.CONNECTIONLOSS)) {
					this.openNanos = sentAtNanos;
					this.lostNanos = sentAtNanos;
				}
			}
			schedule();
		}
		finally {
			this.lock.unlock();
		}
		if (stat != null) {
			this.written.run();
		}
	}

	/** Returns the moment after which an answered write proves the session. */
	private long provenNanos(long sentAtNanos) {
		Write write = new Write(sentAtNanos, System.nanoTime());
		Write before = this.candidate;
		long known = (this.heardAfterNanos != null) ? this.heardAfterNanos : sentAtNanos - this.session.timeoutNanos();
		boolean proves = before != null && sentAtNanos - before.answeredAtNanos() >= reportNanos();
		if (before != null && proves) {
			known = later(known, before.sentAtNanos());
		}
		if (this.lostNanos != null) {
			known = later(known, this.lostNanos);
		}
		this.chained = this.chained || proves || this.lostNanos != null;
		if (!this.chained) {
			known = later(known, sentAtNanos - this.session.timeoutNanos() * 2 / 3);
		}
		this.late = !this.late && write.answeredAtNanos() - sentAtNanos > reportNanos();
		if (before == null || proves) {
			this.candidate = this.late ? null : write;
		}
		this.heardAfterNanos = known;
		return known;
	}

	private static long later(long nanos, long otherNanos) {
		return (nanos - otherNanos > 0) ? nanos : otherNanos;
	}

	/** Returns a time in which the follower has reported the session to the leader. */
	private long reportNanos() {
		return this.session.timeoutNanos() / 4;
	}

	private void schedule() {
		if (this.pending != null) {
			this.pending.run();
		}
		if (this.closed || this.session.hasEnded()) {
			return;
		}
		long now = System.nanoTime();
		long intervalNanos = this.session.timeoutNanos() * 3 / 10;
		long next = now + intervalNanos / 10;
		long proving = now + reportNanos();
		Write before = this.candidate;
		if (before != null) {
			long regular = before.sentAtNanos() + intervalNanos;
			proving = before.answeredAtNanos() + reportNanos();
			boolean hurry = this.session.until() - regular < reportNanos();
			next = later(next, hurry ? proving : later(proving, regular));
		}
		if (this.late) {
			next = now;
		}
		this.session.expectProof(later(next, proving));
		this.pending = this.timer.scheduleIfOpen(this::send, next - now);
	}

	/** Warns of a callback that keeps all answers from this process. */
	private void warnOfCallback() {
		Thread thread;
		this.lock.lock();
		try {
			thread = this.underWay ? this.eventThread : null;
		}
		finally {
			this.lock.unlock();
		}
		StackTraceElement[] stack = (thread != null) ? thread.getStackTrace() : new StackTraceElement[0];
		if (thread != null && isInCallback(stack)) {
			logger.warn("A callback or watcher of the ZooKeeper client has occupied its thread '" + thread.getName()
					+ "' for " + TimeUnit.NANOSECONDS.toMillis(reportNanos()) + " ms or longer. No answer reaches this"
					+ " process meanwhile, so that it acquires no lock and will lose those that it holds. Let the"
					+ " callback hand its work to another thread. It is at "
					+ Arrays.stream(stack).map(StackTraceElement::toString).collect(Collectors.joining(" < ")));
		}
	}

	/** Returns whether the stack of a client's event thread is not that of its wait. */
	private static boolean isInCallback(StackTraceElement[] stack) {
		return Arrays.stream(stack)
			.filter((frame) -> frame.getClassName().endsWith("ClientCnxn$EventThread"))
			.findFirst()
			.filter((frame) -> !"run".equals(frame.getMethodName()))
			.isPresent();
	}

	/**
	 * Returns the last known moment at which the client's handle was open, or
	 * {@code null}; each later session began after that.
	 */
	@Nullable Long openNanos() {
		this.lock.lock();
		try {
			return this.openNanos;
		}
		finally {
			this.lock.unlock();
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

}
