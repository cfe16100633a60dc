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

import io.distributedlock.provider.Term;

/**
 * One session with the ensemble, from when it was first seen until it has ended: what is
 * created in it stands as long as it does.
 * <p>
 * Until when it lasts is known from our own writes alone. A follower that is cut off from
 * the leader goes on answering reads while the leader lets the session expire; a write
 * has been to the leader. How late the leader may have heard that we are there is bounded
 * by the write before: by then the follower has told it.
 */
final class Session implements Term {

	private static final Log logger = LogFactory.getLog(Session.class);

	/**
	 * The most bytes of ephemeral paths: they all go into the one transaction that ends
	 * the session, and a server cannot read one that is too long.
	 */
	static final long MOST_BYTES = 1 << 20;

	/** Less is a pause that is over before another connection stands. */
	private static final long SHORTEST_SILENCE = TimeUnit.MILLISECONDS.toNanos(200);

	private static final long MARGIN = TimeUnit.MILLISECONDS.toNanos(2);

	private final ZooKeeper zooKeeper;

	private final long id;

	private final long timeout;

	private final Calls calls;

	private final @Nullable Duration longestSilence;

	private final Set<Runnable> signals = ConcurrentHashMap.newKeySet();

	private final AtomicLong bytes = new AtomicLong();

	private final AtomicLong lastAnswer = new AtomicLong(System.nanoTime());

	/** When a silent connection was last dropped, so that one silence costs one. */
	private final AtomicLong lastDrop = new AtomicLong(System.nanoTime());

	/** When the first call was sent that nothing was answered after. */
	private final AtomicLong firstUnanswered = new AtomicLong(System.nanoTime());

	private volatile long until = System.nanoTime();

	/** The leader's clock, in milliseconds, and when it was read here. */
	private volatile Clock clock = new Clock(0, 0);

	private final AtomicBoolean ending = new AtomicBoolean();

	private volatile boolean ended;

	private volatile long endedAt;

	Session(ZooKeeper zooKeeper, List<ACL> acl, @Nullable Duration longestSilence) {
		this.zooKeeper = zooKeeper;
		this.id = zooKeeper.getSessionId();
		this.timeout = TimeUnit.MILLISECONDS.toNanos(zooKeeper.getSessionTimeout());
		this.longestSilence = longestSilence;
		this.calls = new Calls(zooKeeper, acl, this::answered);
	}

	ZooKeeper zooKeeper() {
		return this.zooKeeper;
	}

	long id() {
		return this.id;
	}

	/** The time-out that the server granted, in nanoseconds. */
	long timeout() {
		return this.timeout;
	}

	Calls calls() {
		return this.calls;
	}

	boolean isOf(ZooKeeper handle) {
		return this.zooKeeper == handle && handle.getSessionId() == this.id;
	}

	boolean isConnected() {
		return !this.ended && this.zooKeeper.getState().isConnected();
	}

	/** Whether the server does not believe who the client says it is. */
	boolean isRefused() {
		return this.zooKeeper.getState() == ZooKeeper.States.AUTH_FAILED;
	}

	private void answered(Code code) {
		if (code == Code.SESSIONEXPIRED || code == Code.AUTHFAILED) {
			end();
		}
		else if (code == Code.CONNECTIONLOSS) {
			// What comes after it is silent on another connection.
			this.lastDrop.accumulateAndGet(System.nanoTime(), (last, now) -> (now - last > 0) ? now : last);
		}
		else {
			this.lastAnswer.accumulateAndGet(System.nanoTime(), (last, now) -> (now - last > 0) ? now : last);
		}
	}

	/** When the server last answered anything, which no later session was there for. */
	long lastAnswer() {
		return this.lastAnswer.get();
	}

	/**
	 * The server answered a write of ours.
	 * @param base a moment after which the leader has heard of this session
	 * @param serverTime the leader's clock at the write
	 */
	void proved(long base, long serverTime) {
		long proven = base + this.timeout - this.timeout / 200 - MARGIN;
		if (!this.ended && proven - this.until > 0) {
			this.until = proven;
		}
		this.clock = new Clock(serverTime, System.nanoTime());
	}

	@Override
	public long until() {
		long proven = this.until;
		return (this.ended && proven - this.endedAt > 0) ? this.endedAt : proven;
	}

	@Override
	public void onShortened(Runnable signal) {
		this.signals.add(signal);
		if (this.ended) {
			tell(signal);
		}
	}

	boolean isValid(long now) {
		return !this.ended && this.until - now > 0;
	}

	boolean hasEnded() {
		return this.ended;
	}

	/** Everything that stands in it is gone, or will be. */
	void end() {
		if (!this.ending.compareAndSet(false, true)) {
			return;
		}
		this.endedAt = System.nanoTime();
		this.ended = true;
		this.signals.forEach(this::tell);
	}

	/** Each is told once, whoever comes first. */
	private void tell(Runnable signal) {
		if (this.signals.remove(signal)) {
			signal.run();
		}
	}

	/**
	 * Milliseconds since a time of the leader's clock; 0 if that is in the future.
	 */
	long since(long serverTime) {
		Clock read = this.clock;
		long now = read.serverTime() + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - read.readAt());
		return Math.max(0, now - serverTime);
	}

	/** Makes room for a path; fails if the session has too many. */
	boolean reserve(int length) {
		if (this.bytes.addAndGet(length) <= MOST_BYTES) {
			return true;
		}
		this.bytes.addAndGet(-length);
		return false;
	}

	/** A path is there, whether there is room for it or not. */
	void occupy(int length) {
		this.bytes.addAndGet(length);
	}

	/** The length of all paths together. */
	long bytes() {
		return this.bytes.get();
	}

	void free(int length) {
		this.bytes.addAndGet(-length);
	}

	/**
	 * A call was not answered in time. If nothing at all was for as long as a call may
	 * take, the connection is dropped, so that the client looks for another server; the
	 * session goes on. One call that had little time left says nothing of the others.
	 * @param sentAt when the call was sent
	 * @param urgent whether a lease ends if it is not answered: then its time was enough
	 */
	void unanswered(long sentAt, boolean urgent) {
		long dropped = this.lastDrop.get();
		if (this.longestSilence == null || this.lastAnswer.get() - sentAt > 0 || dropped - sentAt > 0
				|| !isConnected()) {
			return;
		}
		long silence = System.nanoTime() - silentSince(sentAt);
		// The caller's time begins a little before the call is sent.
		long longest = this.longestSilence.toNanos() * 9 / 10;
		if (silence >= (urgent ? Math.min(longest, SHORTEST_SILENCE) : longest)
				&& this.lastDrop.compareAndSet(dropped, System.nanoTime())) {
			logger.debug("Nothing was answered for " + TimeUnit.NANOSECONDS.toMillis(silence)
					+ " ms: the connection is dropped");
			drop();
		}
	}

	/** When the first call was sent since the last answer, as far as is known. */
	private long silentSince(long sentAt) {
		return this.firstUnanswered.updateAndGet(
				(first) -> (first - this.lastAnswer.get() > 0 && first - this.lastDrop.get() > 0 && first - sentAt < 0)
						? first : sentAt);
	}

	private void drop() {
		try {
			this.zooKeeper.getTestable().closeSocket();
			// The client notices when it next has something to send.
			this.calls.sync("/");
		}
		catch (IOException | RuntimeException ex) {
			logger.debug("The connection could not be dropped", ex);
		}
	}

	/**
	 * A reading of the leader's clock, which serves only to tell people how long a lock
	 * has been held.
	 */
	private record Clock(long serverTime, long readAt) {
	}

}
