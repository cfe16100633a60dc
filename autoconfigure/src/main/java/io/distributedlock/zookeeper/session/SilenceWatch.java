package io.distributedlock.zookeeper.session;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.DeadlineTimer;
import io.distributedlock.provider.LockThreads;
import io.distributedlock.provider.LockTimer;

/**
 * Silence of the connections of one session. It drops a connection on which nothing is
 * answered, so that the client connects to another server; the session lasts.
 * <p>
 * An ensemble that is slow to write is silent to all its clients, which must not drop
 * their connections together and again and again. So the tolerated silence has a random
 * part, up to its double, and doubles with each drop after which nothing was answered, up
 * to the client's own limit of two thirds of the session's time-out. Safe for use by many
 * threads.
 */
final class SilenceWatch {

	private static final Log logger = LogFactory.getLog(SilenceWatch.class);

	/** A shorter silence ends before another connection is established. */
	private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

	private static final int MAX_DOUBLINGS = 16;

	private final ZooKeeper zooKeeper;

	private final @Nullable Duration longest;

	private final double randomFactor = 1 + ThreadLocalRandom.current().nextDouble();

	private final DeadlineTimer alarm;

	private final AtomicLong lastAnswerNanos = new AtomicLong(System.nanoTime());

	/** When a connection was last lost, so that one silence drops one connection. */
	private final AtomicLong lastDropNanos = new AtomicLong(System.nanoTime());

	/** When the first request was sent after which nothing was answered. */
	private final AtomicLong firstUnansweredNanos = new AtomicLong(System.nanoTime());

	/** The connections that were dropped since the last answer. */
	private final AtomicInteger drops = new AtomicInteger();

	/** Whether a renewal has timed out since the last answer. */
	private volatile boolean renewalOverdue;

	/**
	 * Creates the silence of a session.
	 * @param longest the silence after which a connection may be dropped, or {@code null}
	 * to leave that to the client
	 */
	SilenceWatch(ZooKeeper zooKeeper, @Nullable Duration longest, LockTimer timer) {
		this.zooKeeper = zooKeeper;
		this.longest = longest;
		this.alarm = new DeadlineTimer(timer, this::checkAgain);
	}

	/** Records the code of an answer, which may be that of a lost connection. */
	void answered(Code code) {
		if (code == Code.CONNECTIONLOSS) {
			// A silence after it belongs to another connection.
			advance(this.lastDropNanos);
		}
		else {
			advance(this.lastAnswerNanos);
			this.drops.set(0);
			this.renewalOverdue = false;
		}
	}

	private static void advance(AtomicLong last) {
		last.accumulateAndGet(System.nanoTime(), (before, now) -> (now - before > 0) ? now : before);
	}

	/**
	 * Records that a call was not answered in time. The connection is dropped once
	 * nothing at all was answered for the tolerated silence. One call with a short
	 * time-out proves nothing.
	 */
	void callTimedOut(long sentAtNanos) {
		timedOut(unansweredSince(sentAtNanos), longestNanos());
	}

	/**
	 * Records that a renewal was not answered in time. A lease depends on it, so that a
	 * shorter silence is enough to drop the connection.
	 */
	void renewalTimedOut(long sentAtNanos) {
		this.renewalOverdue = true;
		timedOut(unansweredSince(sentAtNanos), Math.min(longestNanos(), SHORTEST_NANOS));
	}

	/**
	 * Returns since when a request has had no answer, and no other had: an answer after
	 * it was sent is that to an earlier request, because servers answer in order.
	 */
	private long unansweredSince(long sentAtNanos) {
		long answeredNanos = this.lastAnswerNanos.get();
		return (answeredNanos - sentAtNanos > 0) ? answeredNanos : sentAtNanos;
	}

	/**
	 * Returns a little less than configured: a call begins before its request is sent.
	 */
	private long longestNanos() {
		return (this.longest != null) ? this.longest.toNanos() * 9 / 10 : Long.MAX_VALUE;
	}

	private long toleratedNanos(long usualNanos) {
		long clientLimitNanos = TimeUnit.MILLISECONDS.toNanos(this.zooKeeper.getSessionTimeout()) * 2 / 3;
		int doublings = Math.min(this.drops.get(), MAX_DOUBLINGS);
		long nanos = (long) (usualNanos * this.randomFactor * (1L << doublings));
		return (doublings > 0) ? Math.min(nanos, Math.max(clientLimitNanos, usualNanos)) : nanos;
	}

	private void timedOut(long sentAtNanos, long usualNanos) {
		long droppedNanos = this.lastDropNanos.get();
		if (this.longest == null || this.lastAnswerNanos.get() - sentAtNanos > 0 || droppedNanos - sentAtNanos > 0
				|| !this.zooKeeper.getState().isConnected()) {
			return;
		}
		long silenceNanos = System.nanoTime() - silentSince(sentAtNanos);
		long toleratedNanos = toleratedNanos(usualNanos);
		if (silenceNanos < toleratedNanos) {
			this.alarm.setAt(Deadline.after(Duration.ofNanos(toleratedNanos - silenceNanos)));
		}
		else if (this.lastDropNanos.compareAndSet(droppedNanos, System.nanoTime())) {
			this.drops.incrementAndGet();
			logger.debug("Nothing was answered for " + TimeUnit.NANOSECONDS.toMillis(silenceNanos)
					+ " ms: the connection is dropped");
			drop();
		}
	}

	private void checkAgain() {
		long usualNanos = this.renewalOverdue ? Math.min(longestNanos(), SHORTEST_NANOS) : longestNanos();
		timedOut(this.firstUnansweredNanos.get(), usualNanos);
	}

	/** Returns when the first request was sent since the last answer, as far as known. */
	private long silentSince(long sentAtNanos) {
		return this.firstUnansweredNanos.updateAndGet((first) -> (first - this.lastAnswerNanos.get() > 0
				&& first - this.lastDropNanos.get() > 0 && first - sentAtNanos < 0) ? first : sentAtNanos);
	}

	/** On a thread of its own: over TLS the client may wait for the socket to close. */
	private void drop() {
		try {
			LockThreads.factory("zookeeper-drop").newThread(this::closeSocket).start();
		}
		catch (OutOfMemoryError ex) {
			logger.debug("There is no thread to drop the connection", ex);
		}
	}

	private void closeSocket() {
		try {
			this.zooKeeper.getTestable().closeSocket();
			// The client notices the closed socket when it sends the next request.
			this.zooKeeper.sync("/", (code, path, context) -> logger.debug("The connection was dropped: " + code),
					null);
		}
		catch (IOException | RuntimeException ex) {
			logger.debug("The connection could not be dropped", ex);
		}
	}

}
