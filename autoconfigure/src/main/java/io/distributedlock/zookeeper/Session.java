package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.LockTimer;
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
 * It also counts the bytes of the session's ephemeral paths. Safe for use by many threads.
 */
final class Session implements SessionDeadline {

	/**
	 * The limit for all ephemeral paths together: they go into the one transaction that
	 * closes the session, and a server cannot read one beyond about 1 MB.
	 */
	static final long MAX_PATH_BYTES = 1 << 20;

	private static final long MARGIN_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

	private final ZooKeeper zooKeeper;

	private final long id;

	private final long timeoutNanos;

	private final ZooKeeperOperations operations;

	private final ConnectionSilence silence;

	private final Set<Runnable> signals = ConcurrentHashMap.newKeySet();

	private final AtomicLong bytes = new AtomicLong();

	private volatile long untilNanos = System.nanoTime();

	/** The last reading of the leader's clock. */
	private volatile Clock clock = new Clock(0, 0);

	private final AtomicBoolean ending = new AtomicBoolean();

	private volatile boolean ended;

	private volatile long endedAtNanos;

	/** Kept, because the state of a handle that is replaced changes. */
	private volatile boolean endedByRefusal;

	Session(ZooKeeper zooKeeper, List<ACL> acl, @Nullable Duration longestSilence, LockTimer timer) {
		this.zooKeeper = zooKeeper;
		this.id = zooKeeper.getSessionId();
		this.timeoutNanos = TimeUnit.MILLISECONDS.toNanos(zooKeeper.getSessionTimeout());
		this.silence = new ConnectionSilence(zooKeeper, longestSilence, timer);
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
		else {
			this.silence.answered(code);
		}
	}

	/** Returns when the server last answered; each later session began after that. */
	long lastAnswerNanos() {
		return this.silence.lastAnswerNanos();
	}

	/** Returns the silence of the session's connections. */
	ConnectionSilence silence() {
		return this.silence;
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
	 * Reading of the leader's clock, used only to report how long a lock has been held.
	 */
	private record Clock(long serverTimeMillis, long readAtNanos) {
	}

}
