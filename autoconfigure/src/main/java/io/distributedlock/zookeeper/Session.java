package io.distributedlock.zookeeper;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.LockThreads;
import io.distributedlock.provider.SessionDeadline;

/**
 * Session with the ensemble, from its first connection until its end. ZooKeeper deletes
 * the nodes of a session when it ends.
 * <p>
 * Only the answers to writes prove how long a session lasts. A follower that is cut off
 * from the leader still answers reads while the leader expires the session; a write has
 * reached the leader. The answered write before it bounds when the leader last heard of
 * the session: since then the follower has reported it.
 * <p>
 * It also counts the bytes of the session's ephemeral paths, and drops a connection on
 * which nothing is answered. Safe for use by many threads.
 */
final class Session implements SessionDeadline {

	private static final Log logger = LogFactory.getLog(Session.class);

	/**
	 * The limit for all ephemeral paths together: they go into the one transaction that
	 * closes the session, and a server cannot read one beyond about 1 MB.
	 */
	static final long MAX_PATH_BYTES = 1 << 20;

	/** A shorter silence ends before another connection is established. */
	private static final long SHORTEST_SILENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

	private static final long MARGIN_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

	private final ZooKeeper zooKeeper;

	private final long id;

	private final long timeoutNanos;

	private final ZooKeeperOperations operations;

	private final @Nullable Duration longestSilence;

	private final Set<Runnable> signals = ConcurrentHashMap.newKeySet();

	private final AtomicLong bytes = new AtomicLong();

	private final AtomicLong lastAnswerNanos = new AtomicLong(System.nanoTime());

	/** When a connection was last lost, so that one silence drops one connection. */
	private final AtomicLong lastDropNanos = new AtomicLong(System.nanoTime());

	/** When the first request was sent after which nothing was answered. */
	private final AtomicLong firstUnansweredNanos = new AtomicLong(System.nanoTime());

	private volatile long untilNanos = System.nanoTime();

	/** The last reading of the leader's clock. */
	private volatile Clock clock = new Clock(0, 0);

	private final AtomicBoolean ending = new AtomicBoolean();

	private volatile boolean ended;

	private volatile long endedAtNanos;

	/** Kept, because the state of a handle that is replaced changes. */
	private volatile boolean endedByRefusal;

	Session(ZooKeeper zooKeeper, List<ACL> acl, @Nullable Duration longestSilence) {
		this.zooKeeper = zooKeeper;
		this.id = zooKeeper.getSessionId();
		this.timeoutNanos = TimeUnit.MILLISECONDS.toNanos(zooKeeper.getSessionTimeout());
		this.longestSilence = longestSilence;
		this.operations = new ZooKeeperOperations(zooKeeper, acl, this::answered);
	}

	ZooKeeper zooKeeper() {
		return this.zooKeeper;
	}

	long id() {
		return this.id;
	}

	/** Returns the time-out that the server granted. */
	long timeoutNanos() {
		return this.timeoutNanos;
	}

	ZooKeeperOperations operations() {
		return this.operations;
	}

	boolean isOf(ZooKeeper handle) {
		return this.zooKeeper == handle && handle.getSessionId() == this.id;
	}

	boolean isConnected() {
		return !this.ended && this.zooKeeper.getState().isConnected();
	}

	/** Returns whether the servers have refused the client's credentials. */
	boolean isRefused() {
		return this.endedByRefusal || this.zooKeeper.getState() == ZooKeeper.States.AUTH_FAILED;
	}

	private void answered(Code code) {
		if (code == Code.SESSIONEXPIRED || code == Code.AUTHFAILED) {
			end();
		}
		else if (code == Code.CONNECTIONLOSS) {
			// A silence after it belongs to another connection.
			this.lastDropNanos.accumulateAndGet(System.nanoTime(), (last, now) -> (now - last > 0) ? now : last);
		}
		else {
			this.lastAnswerNanos.accumulateAndGet(System.nanoTime(), (last, now) -> (now - last > 0) ? now : last);
		}
	}

	/** Returns when the server last answered; each later session began after that. */
	long lastAnswerNanos() {
		return this.lastAnswerNanos.get();
	}

	/**
	 * Records an answered write, which may move the session's deadline.
	 * @param heardAfterNanos a moment after which the leader has heard of this session
	 * @param serverTimeMillis the leader's clock at the write
	 */
	void confirm(long heardAfterNanos, long serverTimeMillis) {
		long provenNanos = heardAfterNanos + this.timeoutNanos - this.timeoutNanos / 200 - MARGIN_NANOS;
		if (!this.ended && provenNanos - this.untilNanos > 0) {
			this.untilNanos = provenNanos;
		}
		this.clock = new Clock(serverTimeMillis, System.nanoTime());
	}

	@Override
	public long until() {
		long provenNanos = this.untilNanos;
		return (this.ended && provenNanos - this.endedAtNanos > 0) ? this.endedAtNanos : provenNanos;
	}

	@Override
	public void onShortened(Runnable signal) {
		this.signals.add(signal);
		if (this.ended) {
			signal(signal);
		}
	}

	boolean isValid() {
		return !this.ended && this.untilNanos - System.nanoTime() > 0;
	}

	boolean hasEnded() {
		return this.ended;
	}

	/** Ends the session: ZooKeeper has deleted its nodes, or will. */
	void end() {
		if (!this.ending.compareAndSet(false, true)) {
			return;
		}
		this.endedAtNanos = System.nanoTime();
		this.endedByRefusal = this.zooKeeper.getState() == ZooKeeper.States.AUTH_FAILED;
		this.ended = true;
		this.signals.forEach(this::signal);
	}

	/** Runs a signal once, whichever thread comes first. */
	private void signal(Runnable signal) {
		if (this.signals.remove(signal)) {
			signal.run();
		}
	}

	/**
	 * Returns the time since a time of the leader's clock; 0 if that is in the future.
	 */
	long millisSince(long serverTimeMillis) {
		Clock read = this.clock;
		long now = read.serverTimeMillis() + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - read.readAtNanos());
		return Math.max(0, now - serverTimeMillis);
	}

	/**
	 * Counts the bytes of a path.
	 * @return {@code false} if the session has no room for it
	 */
	boolean tryAllocate(int length) {
		if (this.bytes.addAndGet(length) <= MAX_PATH_BYTES) {
			return true;
		}
		this.bytes.addAndGet(-length);
		return false;
	}

	/** Counts the bytes of a path that exists, whether there is room for it or not. */
	void allocate(int length) {
		this.bytes.addAndGet(length);
	}

	/** Returns the counted bytes of all paths. */
	long bytes() {
		return this.bytes.get();
	}

	void free(int length) {
		this.bytes.addAndGet(-length);
	}

	/**
	 * Records that a call was not answered in time. If nothing at all was answered for
	 * the longest silence, the connection is dropped, so that the client connects to
	 * another server; the session lasts. One call with a short time-out proves nothing.
	 */
	void callTimedOut(long sentAtNanos) {
		timedOut(sentAtNanos, longestSilenceNanos());
	}

	/**
	 * Records that a renewal was not answered in time. A lease depends on it, so that a
	 * shorter silence is enough to drop the connection.
	 */
	void renewalTimedOut(long sentAtNanos) {
		timedOut(sentAtNanos, Math.min(longestSilenceNanos(), SHORTEST_SILENCE_NANOS));
	}

	/**
	 * Returns a little less than configured: a call begins before its request is sent.
	 */
	private long longestSilenceNanos() {
		return (this.longestSilence != null) ? this.longestSilence.toNanos() * 9 / 10 : Long.MAX_VALUE;
	}

	private void timedOut(long sentAtNanos, long toleratedNanos) {
		long droppedNanos = this.lastDropNanos.get();
		if (this.longestSilence == null || this.lastAnswerNanos.get() - sentAtNanos > 0
				|| droppedNanos - sentAtNanos > 0 || !isConnected()) {
			return;
		}
		long silenceNanos = System.nanoTime() - silentSince(sentAtNanos);
		if (silenceNanos >= toleratedNanos && this.lastDropNanos.compareAndSet(droppedNanos, System.nanoTime())) {
			logger.debug("Nothing was answered for " + TimeUnit.NANOSECONDS.toMillis(silenceNanos)
					+ " ms: the connection is dropped");
			drop();
		}
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
			this.operations.sync("/").whenComplete((synced, failure) -> {
				if (failure != null) {
					logger.debug("The connection was dropped", failure);
				}
			});
		}
		catch (IOException | RuntimeException ex) {
			logger.debug("The connection could not be dropped", ex);
		}
	}

	/**
	 * Reading of the leader's clock, used only to report how long a lock has been held.
	 */
	private record Clock(long serverTimeMillis, long readAtNanos) {
	}

}
